"""What came to a topic is counted as an inbox would see it."""

import pytest

from bench.arrivals import Arrivals


def arrivals(*records: tuple[int, int, str, int, float]) -> Arrivals:
    seen = Arrivals()
    for record in records:
        seen.note(*record)
    return seen


def test_a_second_arrival_is_a_duplicate_and_neither_lost_nor_out_of_order() -> None:
    seen = arrivals((0, 1, "k", 1, 0.0), (0, 2, "k", 2, 0.1), (0, 1, "k", 1, 0.2))

    assert (seen.duplicates, seen.out_of_order, seen.lost(3)) == (1, 0, 1)
    assert seen.first[1] == 0.0


def test_a_first_arrival_behind_a_later_row_of_its_aggregate_is_out_of_order() -> None:
    assert arrivals((0, 2, "k", 2, 0.0), (0, 1, "k", 1, 0.0)).out_of_order == 1
    assert arrivals((0, 2, "k", 2, 0.0), (0, 1, "other", 1, 0.0)).out_of_order == 0


def test_an_aggregate_on_two_partitions_has_no_order() -> None:
    assert arrivals((0, 1, "k", 1, 0.0), (1, 2, "k", 2, 0.1)).out_of_order == 1


def test_rows_of_a_warm_up_are_not_counted() -> None:
    assert arrivals((0, -1, "warm-up", 1, 0.0)).lost(0) == 0


def test_the_steady_rate_leaves_out_the_first_and_the_last_fifth() -> None:
    slow_at_both_ends = [0.0, 5.0, *(10.0 + n / 10 for n in range(7)), 90.0]
    seen = arrivals(*((0, seq, "k", seq, at) for seq, at in enumerate(slow_at_both_ends, start=1)))

    assert seen.steady_rate() == pytest.approx(10)
    assert arrivals().steady_rate() is None
    assert arrivals((0, 1, "k", 1, 3.0), (0, 2, "k", 2, 3.0)).steady_rate() is None
