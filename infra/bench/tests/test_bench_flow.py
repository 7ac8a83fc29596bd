"""Times of a flow: percentiles are values that were measured, and a kill counts from rows committed after it."""

import pytest

from bench.flow import Flow
from bench.measurements.relay_kill import next_row
from bench.percentiles import percentile


def flow(*rows: tuple[float, float | None]) -> Flow:
    """A flow of rows, each with when it was committed and when, if ever, it was seen."""
    numbered = list(enumerate(rows, start=1))
    return Flow(
        begun={seq: committed - 0.5 for seq, (committed, _) in numbered},
        committed={seq: committed for seq, (committed, _) in numbered},
        visible={seq: seen for seq, (_, seen) in numbered if seen is not None},
        spent={},
    )


@pytest.mark.parametrize(("percent", "value"), [(50, 20.0), (51, 30.0), (95, 40.0), (0, 10.0), (100, 40.0)])
def test_a_percentile_is_the_smallest_value_that_so_many_percent_do_not_exceed(percent: float, value: float) -> None:
    assert percentile([10.0, 20.0, 30.0, 40.0], percent) == value


def test_waits_go_from_the_end_of_the_commit_and_leave_out_what_never_came() -> None:
    seen = flow((1.0, 1.25), (2.0, 2.125), (3.0, None))

    assert seen.waits() == [0.125, 0.25]
    assert seen.seconds == 2.5


def test_after_a_kill_only_a_row_that_was_committed_later_counts_as_the_next_one() -> None:
    on_its_way, held_up, later = (1.0, 2.1), (2.5, 4.0), (2.6, 3.5)

    assert next_row(flow(on_its_way, held_up, later), killed_at=2.0) == pytest.approx(1.5)
    assert next_row(flow(on_its_way), killed_at=2.0) is None
