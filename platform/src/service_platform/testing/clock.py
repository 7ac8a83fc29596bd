"""Time that moves only when told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FakeClock:
    """A clock for unit tests: `clock()` is the time (UTC) wherever a callable for it is taken."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> datetime:
        """Let time pass; clocks do not go back here."""
        if by < timedelta(0):
            raise ValueError("time does not go back")
        self._now += by
        return self._now
