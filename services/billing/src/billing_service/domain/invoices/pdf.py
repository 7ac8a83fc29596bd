"""The invoice as a PDF: A4, in the customer's language, as many pages as it needs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from .fonts import BOLD, REGULAR, register_fonts
from .formats import format_amount, format_count, format_day, format_money, format_rate
from .messages import MESSAGES
from .models import Invoice, InvoiceLine
from .pages import Block, flow
from .tax import TaxTotal

_WIDTH, _HEIGHT = A4
_LEFT, _RIGHT = 20 * mm, _WIDTH - 20 * mm
_TOP, _BOTTOM = _HEIGHT - 20 * mm, 24 * mm
_INK, _GREY, _RULE = HexColor("#1d2733"), HexColor("#5f6b7a"), HexColor("#c9d1da")
_SMALL, _TEXT, _LARGE, _TITLE = 8, 9.5, 12, 22
_ROW: Final = 6.4 * mm
_WRAPPED: Final = 4.2 * mm

_LINE_COLUMNS: Final = (_LEFT + 92 * mm, _LEFT + 124 * mm, _LEFT + 142 * mm, _RIGHT)
"""Where quantity, unit price, rate and amount end; the sku begins at the left edge."""
_TAX_COLUMNS: Final = (_LEFT + 108 * mm, _LEFT + 138 * mm, _RIGHT)
_TAX_LEFT: Final = _LEFT + 62 * mm
_SKU_WIDTH: Final = 74 * mm


def prepare_rendering() -> None:
    """Make ready what the first document of a process would wait for."""
    register_fonts()


def render_pdf(invoice: Invoice, *, seller: str) -> bytes:
    """The same bytes for the same invoice. Some milliseconds of CPU; the first one of a process half a second more."""
    register_fonts()
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, pageCompression=1, invariant=1, lang=invoice.language, initialFontName=REGULAR)
    sheet = _Sheet(invoice, seller)
    canvas.setTitle(f"{sheet.text('title')} {invoice.number}")
    canvas.setAuthor(seller)
    pages = flow(sheet.blocks(), room=_TOP - _BOTTOM)
    for number, blocks in enumerate(pages, start=1):
        y = _TOP
        for block in blocks:
            block.draw(canvas, y)
            y -= block.height
        sheet.draw_foot(canvas, number, len(pages))
        canvas.showPage()
    canvas.save()
    return out.getvalue()


class _Sheet:
    """What stands on one invoice's pages."""

    def __init__(self, invoice: Invoice, seller: str) -> None:
        self._invoice = invoice
        self._seller = seller
        self._line_titles = Block(height=_ROW + 1 * mm, draw=self._draw_line_titles)
        self._tax_titles = Block(height=_ROW + 5 * mm, draw=self._draw_tax_titles)

    def text(self, key: str, **values: object) -> str:
        return MESSAGES.text(f"pdf.{key}", self._invoice.language, **values)

    def blocks(self) -> Iterator[Block]:
        yield Block(height=66 * mm, draw=self._draw_head)
        for line in self._invoice.lines:
            yield self._line(line)
        for total in self._invoice.taxes:
            yield self._tax(total)
        yield Block(height=30 * mm, draw=self._draw_total)

    def _line(self, line: InvoiceLine) -> Block:
        pieces = _wrap(line.sku, _SKU_WIDTH)
        cells = (
            format_count(line.quantity, self._invoice.language),
            self._amount(line.unit_price_minor),
            format_rate(line.tax_rate_bp, self._invoice.language),
            self._amount(line.gross_minor),
        )

        def draw(canvas: Canvas, y: float) -> None:
            for position, piece in enumerate(pieces):
                _left(canvas, _LEFT, y - 4.4 * mm - position * _WRAPPED, piece)
            for x, cell in zip(_LINE_COLUMNS, cells, strict=True):
                _right(canvas, x, y - 4.4 * mm, cell)
            _rule(canvas, y - _ROW - (len(pieces) - 1) * _WRAPPED)

        return Block(height=_ROW + (len(pieces) - 1) * _WRAPPED, draw=draw, titles=self._line_titles)

    def _tax(self, total: TaxTotal) -> Block:
        cells = (self._amount(total.net_minor), self._amount(total.tax_minor), self._amount(total.gross_minor))
        rate = format_rate(total.tax_rate_bp, self._invoice.language)

        def draw(canvas: Canvas, y: float) -> None:
            _left(canvas, _TAX_LEFT, y - 4.4 * mm, self.text("tax.rate", rate=rate))
            for x, cell in zip(_TAX_COLUMNS, cells, strict=True):
                _right(canvas, x, y - 4.4 * mm, cell)

        return Block(height=_ROW, draw=draw, titles=self._tax_titles)

    def _draw_head(self, canvas: Canvas, y: float) -> None:
        invoice = self._invoice
        _left(canvas, _LEFT, y - 8 * mm, self.text("title"), font=BOLD, size=_TITLE)
        _right(canvas, _RIGHT, y - 8 * mm, self._seller, font=BOLD, size=_LARGE)
        facts = (
            ("number", invoice.number),
            ("issued", format_day(invoice.issued_at, invoice.language)),
            ("settled", format_day(invoice.settled_at, invoice.language)),
            ("order", str(invoice.order_id)),
        )
        for position, (key, value) in enumerate(facts):
            line = y - 22 * mm - position * 6 * mm
            _left(canvas, _LEFT, line, self.text(key), color=_GREY)
            _left(canvas, _LEFT + 34 * mm, line, value, font=BOLD if key == "number" else REGULAR)
        _left(canvas, _LEFT, y - 50 * mm, self.text("customer"), color=_GREY)
        for position, piece in enumerate(_wrap(invoice.customer_email, 134 * mm)):
            _left(canvas, _LEFT + 34 * mm, y - 50 * mm - position * _WRAPPED, piece)

    def _draw_line_titles(self, canvas: Canvas, y: float) -> None:
        _left(canvas, _LEFT, y - 4.4 * mm, self.text("line.sku"), color=_GREY, size=_SMALL)
        keys = ("line.quantity", "line.unit_price", "line.tax_rate", "line.amount")
        for x, key in zip(_LINE_COLUMNS, keys, strict=True):
            _right(canvas, x, y - 4.4 * mm, self.text(key), color=_GREY, size=_SMALL)
        _rule(canvas, y - _ROW - 1 * mm, color=_INK)

    def _draw_tax_titles(self, canvas: Canvas, y: float) -> None:
        for x, key in zip(_TAX_COLUMNS, ("tax.net", "tax.tax", "tax.gross"), strict=True):
            _right(canvas, x, y - 9 * mm, self.text(key), color=_GREY, size=_SMALL)

    def _draw_total(self, canvas: Canvas, y: float) -> None:
        invoice = self._invoice
        _rule(canvas, y - 2 * mm, left=_TAX_LEFT, color=_INK)
        _left(canvas, _TAX_LEFT, y - 9 * mm, self.text("total"), font=BOLD, size=_LARGE)
        total = format_money(invoice.total_minor, invoice.currency, invoice.language)
        _right(canvas, _RIGHT, y - 9 * mm, total, font=BOLD, size=_LARGE)
        _left(canvas, _LEFT, y - 20 * mm, self.text("free" if invoice.total_minor == 0 else "paid"))
        _left(canvas, _LEFT, y - 26 * mm, self.text("note", currency=invoice.currency), color=_GREY, size=_SMALL)

    def draw_foot(self, canvas: Canvas, page: int, pages: int) -> None:
        _rule(canvas, 18 * mm)
        _left(canvas, _LEFT, 13 * mm, f"{self._seller} · {self._invoice.number}", color=_GREY, size=_SMALL)
        _right(canvas, _RIGHT, 13 * mm, self.text("page", page=page, pages=pages), color=_GREY, size=_SMALL)

    def _amount(self, amount_minor: int) -> str:
        return format_amount(amount_minor, self._invoice.currency, self._invoice.language)


def _left(
    canvas: Canvas, x: float, y: float, text: str, *, font: str = REGULAR, size: float = _TEXT, color: HexColor = _INK
) -> None:
    canvas.setFont(font, size)
    canvas.setFillColor(color)
    canvas.drawString(x, y, text)


def _right(
    canvas: Canvas, x: float, y: float, text: str, *, font: str = REGULAR, size: float = _TEXT, color: HexColor = _INK
) -> None:
    canvas.setFont(font, size)
    canvas.setFillColor(color)
    canvas.drawRightString(x, y, text)


def _rule(canvas: Canvas, y: float, *, left: float = _LEFT, color: HexColor = _RULE) -> None:
    canvas.setStrokeColor(color)
    canvas.setLineWidth(0.5)
    canvas.line(left, y, _RIGHT, y)


def _wrap(text: str, width: float) -> list[str]:
    """The text in pieces that fit, broken anywhere: codes and addresses have no spaces."""
    pieces = [""]
    for letter in text:
        if stringWidth(pieces[-1] + letter, REGULAR, _TEXT) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces
