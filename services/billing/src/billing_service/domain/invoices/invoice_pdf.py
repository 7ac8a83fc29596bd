"""The invoice as a PDF: A4, in the customer's language, as many pages as it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from .drawing import GREY, INK, LEFT, RIGHT, ROW, SMALL, WRAPPED, left, right, rule, wrap
from .formats import format_count, format_day, format_rate
from .messages import MESSAGES
from .models import Invoice, InvoiceLine
from .pages import Block
from .sheet import Sheet

_LINE_COLUMNS: Final = (LEFT + 92 * mm, LEFT + 124 * mm, LEFT + 142 * mm, RIGHT)
"""Where quantity, unit price, rate and amount end; the sku begins at the left edge."""
_SKU_WIDTH: Final = 74 * mm


def render_invoice(invoice: Invoice, *, seller: str) -> bytes:
    """The same bytes for the same invoice."""
    sheet = _InvoiceSheet(invoice, seller)
    return sheet.pdf(sheet.blocks())


class _InvoiceSheet(Sheet):
    def __init__(self, invoice: Invoice, seller: str) -> None:
        super().__init__(
            title=MESSAGES.text("pdf.title", invoice.language),
            number=invoice.number,
            language=invoice.language,
            currency=invoice.currency,
            seller=seller,
        )
        self._invoice = invoice
        self._line_titles = Block(height=ROW + 1 * mm, draw=self._draw_line_titles)

    def blocks(self) -> Iterator[Block]:
        invoice = self._invoice
        facts = [
            ("issued", format_day(invoice.issued_at, invoice.language)),
            ("settled", format_day(invoice.settled_at, invoice.language)),
            ("order", str(invoice.order_id)),
        ]
        yield self.head(facts, customer=invoice.customer_email)
        for line in invoice.lines:
            yield self._line(line)
        for total in invoice.taxes:
            yield self.tax(total)
        yield self.total(
            invoice.total_minor,
            name=self.text("total"),
            said=self.text("free" if invoice.total_minor == 0 else "paid"),
            note=self.text("note", currency=invoice.currency),
        )

    def _line(self, line: InvoiceLine) -> Block:
        pieces = wrap(line.sku, _SKU_WIDTH)
        cells = (
            format_count(line.quantity, self._invoice.language),
            self.amount(line.unit_price_minor),
            format_rate(line.tax_rate_bp, self._invoice.language),
            self.amount(line.gross_minor),
        )

        def draw(canvas: Canvas, y: float) -> None:
            for position, piece in enumerate(pieces):
                left(canvas, LEFT, y - 4.4 * mm - position * WRAPPED, piece)
            for x, cell in zip(_LINE_COLUMNS, cells, strict=True):
                right(canvas, x, y - 4.4 * mm, cell)
            rule(canvas, y - ROW - (len(pieces) - 1) * WRAPPED)

        return Block(height=ROW + (len(pieces) - 1) * WRAPPED, draw=draw, titles=self._line_titles)

    def _draw_line_titles(self, canvas: Canvas, y: float) -> None:
        left(canvas, LEFT, y - 4.4 * mm, self.text("line.sku"), color=GREY, size=SMALL)
        keys = ("line.quantity", "line.unit_price", "line.tax_rate", "line.amount")
        for x, key in zip(_LINE_COLUMNS, keys, strict=True):
            right(canvas, x, y - 4.4 * mm, self.text(key), color=GREY, size=SMALL)
        rule(canvas, y - ROW - 1 * mm, color=INK)
