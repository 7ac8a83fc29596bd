"""How documents look: the page, its colours and sizes, and what is drawn with them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Final

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from service_platform.messages import Language

from .fonts import REGULAR, register_fonts
from .pages import Block, flow

_WIDTH, _HEIGHT = A4
LEFT, RIGHT = 20 * mm, _WIDTH - 20 * mm
_TOP, _BOTTOM = _HEIGHT - 20 * mm, 24 * mm
INK, GREY, RULE = HexColor("#1d2733"), HexColor("#5f6b7a"), HexColor("#c9d1da")
SMALL, TEXT, LARGE, TITLE = 8, 9.5, 12, 22
ROW: Final = 6.4 * mm
WRAPPED: Final = 4.2 * mm


def prepare_rendering() -> None:
    """Make ready what the first document of a process would wait for."""
    register_fonts()


def paint(
    blocks: Iterable[Block],
    *,
    title: str,
    author: str,
    language: Language,
    foot: Callable[[Canvas, int, int], None],
) -> bytes:
    """The blocks as a PDF: A4, as many pages as they need, each with its foot (which gets page and pages).

    The same bytes for the same blocks. Some milliseconds of CPU; the first document of a process half a second more.
    """
    register_fonts()
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, pageCompression=1, invariant=1, lang=language, initialFontName=REGULAR)
    canvas.setTitle(title)
    canvas.setAuthor(author)
    pages = flow(blocks, room=_TOP - _BOTTOM)
    for number, placed in enumerate(pages, start=1):
        y = _TOP
        for block in placed:
            block.draw(canvas, y)
            y -= block.height
        foot(canvas, number, len(pages))
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def left(
    canvas: Canvas, x: float, y: float, text: str, *, font: str = REGULAR, size: float = TEXT, color: HexColor = INK
) -> None:
    canvas.setFont(font, size)
    canvas.setFillColor(color)
    canvas.drawString(x, y, text)


def right(
    canvas: Canvas, x: float, y: float, text: str, *, font: str = REGULAR, size: float = TEXT, color: HexColor = INK
) -> None:
    canvas.setFont(font, size)
    canvas.setFillColor(color)
    canvas.drawRightString(x, y, text)


def rule(canvas: Canvas, y: float, *, start: float = LEFT, color: HexColor = RULE) -> None:
    canvas.setStrokeColor(color)
    canvas.setLineWidth(0.5)
    canvas.line(start, y, RIGHT, y)


def wrap(text: str, width: float) -> list[str]:
    """The text in pieces that fit, broken anywhere: codes and addresses have no spaces."""
    pieces = [""]
    for letter in text:
        if stringWidth(pieces[-1] + letter, REGULAR, TEXT) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces
