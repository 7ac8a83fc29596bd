"""The committed offset never passes an unfinished message."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_platform.event_bus.watermark import Watermark


def test_a_message_that_ends_before_an_earlier_one_moves_nothing() -> None:
    watermark = Watermark()
    for offset in (10, 11, 12):
        watermark.start(offset)
    watermark.finish(11)
    assert watermark.position is None
    watermark.finish(10)
    assert watermark.position == 12
    watermark.finish(12)
    assert watermark.position == 13


@given(st.lists(st.integers(0, 1000), unique=True, min_size=1).map(sorted), st.randoms())
def test_in_any_order_of_finishing_nothing_unfinished_lies_before_the_position(
    offsets: list[int], random: Random
) -> None:
    watermark = Watermark()
    for offset in offsets:
        watermark.start(offset)
    unfinished = set(offsets)
    shuffled = list(offsets)
    random.shuffle(shuffled)
    for offset in shuffled:
        watermark.finish(offset)
        unfinished.remove(offset)
        assert watermark.position is None or all(watermark.position <= left for left in unfinished)
    assert watermark.position == offsets[-1] + 1


def test_an_offset_out_of_order_is_an_error() -> None:
    watermark = Watermark()
    watermark.start(5)
    with pytest.raises(ValueError, match="order"):
        watermark.start(5)
    watermark.finish(5)
    with pytest.raises(ValueError, match="order"):
        watermark.start(4)
