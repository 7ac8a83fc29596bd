"""Flowing blocks onto pages."""

from __future__ import annotations

from billing_service.domain.invoices.pages import Block, flow


def block(height: float, titles: Block | None = None) -> Block:
    return Block(height=height, draw=lambda _canvas, _y: None, titles=titles)


def heights(pages: list[list[Block]]) -> list[list[float]]:
    return [[placed.height for placed in page] for page in pages]


def test_blocks_fill_a_page_before_the_next_one_begins() -> None:
    assert heights(flow([block(4), block(4), block(4)], room=10)) == [[4, 4], [4]]


def test_titles_stand_once_above_their_rows_and_again_on_each_further_page() -> None:
    titles = block(1)
    rows = [block(3, titles) for _ in range(5)]
    assert heights(flow([block(2), *rows], room=10)) == [[2, 1, 3, 3], [1, 3, 3, 3]]


def test_titles_are_never_left_alone_at_the_foot_of_a_page() -> None:
    assert heights(flow([block(8), block(2, block(1))], room=10)) == [[8], [1, 2]]


def test_a_block_higher_than_a_page_stands_alone_and_nothing_is_lost() -> None:
    assert heights(flow([block(2), block(30), block(2)], room=10)) == [[2], [30], [2]]
