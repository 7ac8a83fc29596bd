"""Flowing blocks onto pages, each table's titles repeated on every page that it reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reportlab.pdfgen.canvas import Canvas


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Something of `height` points that is never torn apart. `draw` gets the y of its upper edge.

    `titles` stand above the first block that has them, and again on top of each further page.
    """

    height: float
    draw: Callable[[Canvas, float], None]
    titles: Block | None = None


def flow(blocks: Iterable[Block], *, room: float) -> list[list[Block]]:
    """The blocks as pages of `room` points each, in order, titles put in. A block higher than a page stands alone."""
    pages: list[list[Block]] = [[]]
    left = room
    above: Block | None = None
    for block in blocks:
        titles = block.titles if block.titles is not above else None
        if pages[-1] and block.height + (titles.height if titles else 0) > left:
            pages.append([])
            left, titles = room, block.titles
        for placed in (titles, block):
            if placed is not None:
                pages[-1].append(placed)
                left -= placed.height
        above = block.titles
    return pages
