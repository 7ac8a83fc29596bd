"""What stands on every document: a head of facts, the tax by rate, a total, and the foot of each page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from service_platform.messages import Language

from .drawing import GREY, INK, LARGE, LEFT, RIGHT, ROW, SMALL, TITLE, WRAPPED, left, paint, right, rule, wrap
from .fonts import BOLD, REGULAR
from .formats import format_amount, format_money, format_rate
from .messages import MESSAGES
from .pages import Block
from .tax import TaxTotal

_TAX_COLUMNS: Final = (LEFT + 108 * mm, LEFT + 138 * mm, RIGHT)
"""Where net, tax and gross end; the rate begins at `_TAX_LEFT`."""
_TAX_LEFT: Final = LEFT + 62 * mm
_VALUE_LEFT: Final = LEFT + 34 * mm


class Sheet:
    """The parts of one document, in its language and currency. `title` says what kind of document it is."""

    def __init__(self, *, title: str, number: str, language: Language, currency: str, seller: str) -> None:
        self._title = title
        self._number = number
        self._language = language
        self._currency = currency
        self._seller = seller
        self._tax_titles = Block(height=ROW + 5 * mm, draw=self._draw_tax_titles)

    def text(self, key: str, **values: object) -> str:
        return MESSAGES.text(f"pdf.{key}", self._language, **values)

    def amount(self, amount_minor: int) -> str:
        return format_amount(amount_minor, self._currency, self._language)

    def pdf(self, blocks: Iterable[Block]) -> bytes:
        """The blocks as this document's pages."""
        return paint(
            blocks,
            title=f"{self._title} {self._number}",
            author=self._seller,
            language=self._language,
            foot=self._draw_foot,
        )

    def head(self, facts: Sequence[tuple[str, str]], *, customer: str) -> Block:
        """Title and seller, the number, up to four more facts (key of its name, and value), and the customer."""

        def draw(canvas: Canvas, y: float) -> None:
            left(canvas, LEFT, y - 8 * mm, self._title, font=BOLD, size=TITLE)
            right(canvas, RIGHT, y - 8 * mm, self._seller, font=BOLD, size=LARGE)
            for position, (key, value) in enumerate([("number", self._number), *facts]):
                line = y - 22 * mm - position * 6 * mm
                left(canvas, LEFT, line, self.text(key), color=GREY)
                left(canvas, _VALUE_LEFT, line, value, font=BOLD if key == "number" else REGULAR)
            last = y - 26 * mm - (len(facts) + 1) * 6 * mm
            left(canvas, LEFT, last, self.text("customer"), color=GREY)
            for position, piece in enumerate(wrap(customer, 134 * mm)):
                left(canvas, _VALUE_LEFT, last - position * WRAPPED, piece)

        return Block(height=(48 + 6 * len(facts)) * mm, draw=draw)

    def tax(self, total: TaxTotal) -> Block:
        """What the lines of one rate come to."""
        cells = (self.amount(total.net_minor), self.amount(total.tax_minor), self.amount(total.gross_minor))
        rate = format_rate(total.tax_rate_bp, self._language)

        def draw(canvas: Canvas, y: float) -> None:
            left(canvas, _TAX_LEFT, y - 4.4 * mm, self.text("tax.rate", rate=rate))
            for x, cell in zip(_TAX_COLUMNS, cells, strict=True):
                right(canvas, x, y - 4.4 * mm, cell)

        return Block(height=ROW, draw=draw, titles=self._tax_titles)

    def total(self, total_minor: int, *, name: str, said: str, note: str) -> Block:
        """The sum under its name, what there is to say about it, and in small print how it came about."""

        def draw(canvas: Canvas, y: float) -> None:
            rule(canvas, y - 2 * mm, start=_TAX_LEFT, color=INK)
            left(canvas, _TAX_LEFT, y - 9 * mm, name, font=BOLD, size=LARGE)
            amount = format_money(total_minor, self._currency, self._language)
            right(canvas, RIGHT, y - 9 * mm, amount, font=BOLD, size=LARGE)
            left(canvas, LEFT, y - 20 * mm, said)
            left(canvas, LEFT, y - 26 * mm, note, color=GREY, size=SMALL)

        return Block(height=30 * mm, draw=draw)

    def _draw_tax_titles(self, canvas: Canvas, y: float) -> None:
        for x, key in zip(_TAX_COLUMNS, ("tax.net", "tax.tax", "tax.gross"), strict=True):
            right(canvas, x, y - 9 * mm, self.text(key), color=GREY, size=SMALL)

    def _draw_foot(self, canvas: Canvas, page: int, pages: int) -> None:
        rule(canvas, 18 * mm)
        left(canvas, LEFT, 13 * mm, f"{self._seller} · {self._number}", color=GREY, size=SMALL)
        right(canvas, RIGHT, 13 * mm, self.text("page", page=page, pages=pages), color=GREY, size=SMALL)
