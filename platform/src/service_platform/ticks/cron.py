"""Five-field cron in UTC. The only place that knows the cron library.

Daylight saving is nobody's concern here: every instant is computed in UTC, where each minute comes exactly once.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

_FIELDS = 5
_SOME_LEAP_YEAR = datetime(2024, 1, 1, tzinfo=UTC)
_MINUTE = "%Y-%m-%dT%H:%M"


class CronInvalid(ValueError):
    """The text is no cron expression of five fields, or names no date that ever comes."""


class Cron:
    """When something is due: minute, hour, day of month, month, day of week, as in Debian's cron, in UTC.

    Raises `CronInvalid`.
    """

    def __init__(self, text: str) -> None:
        if len(text.split()) != _FIELDS:
            raise CronInvalid(f"{text!r} has not five fields: minute, hour, day of month, month, day of week")
        self._text = text
        try:
            self.next_after(_SOME_LEAP_YEAR)
        except CronSimError as error:
            raise CronInvalid(f"{text!r} is not understood: {error}") from error
        except StopIteration:
            raise CronInvalid(f"{text!r} names no date that ever comes") from None

    def __str__(self) -> str:
        return self._text

    def next_after(self, at: datetime) -> datetime:
        """The first due instant after `at`."""
        return next(CronSim(self._text, at.astimezone(UTC)))

    def latest_until(self, at: datetime) -> datetime:
        """The last due instant that is not after `at`."""
        just_after = minute_floor(at) + timedelta(minutes=1)
        return next(CronSim(self._text, just_after, reverse=True))


def minute_floor(at: datetime) -> datetime:
    """The minute in which `at` lies, in UTC."""
    return at.astimezone(UTC).replace(second=0, microsecond=0)


def minute_text(at: datetime) -> str:
    """The minute of `at` as ticks write it: UTC, `YYYY-MM-DDTHH:MM`."""
    return at.astimezone(UTC).strftime(_MINUTE)


def minute_instant(text: str) -> datetime:
    """The instant at which the minute `text` begins."""
    return datetime.strptime(text, _MINUTE).replace(tzinfo=UTC)
