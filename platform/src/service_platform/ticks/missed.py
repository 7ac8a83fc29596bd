"""What a claim means: which minute is due, and whether it is run or passed over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .cron import minute_floor, minute_instant
from .tick import MissedRuns, Tick


@dataclass(frozen=True, slots=True)
class Due:
    """The minute to claim. `runs` says whether a job is enqueued for it, `missed` whether minutes before it, or it
    itself, went by without anybody to claim them."""

    minute: datetime
    runs: bool
    missed: bool


def due(tick: Tick[Any], *, last: str | None, now: datetime) -> Due | None:
    """What is due at `now` (the database's clock) for a tick whose row says `last`; None when nothing is.

    - A tick without a row is new: it starts at now, so its row is set to this minute and nothing runs.
    - However many minutes have come due since `last`, the newest of them stands for all. In its own minute it runs.
      Later it has been missed, and runs if the tick's policy is to run once. Those before it are never run.
    """
    if last is None:
        return Due(minute_floor(now), runs=False, missed=False)
    newest, since = tick.schedule.latest_until(now), minute_instant(last)
    if newest <= since:
        return None
    is_missed = newest < minute_floor(now)
    return Due(
        newest,
        runs=not is_missed or tick.missed is MissedRuns.RUN_ONCE,
        missed=is_missed or tick.schedule.next_after(since) < newest,
    )
