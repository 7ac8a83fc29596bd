"""A service's part of the broker, which may lose everything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from service_platform.settings import ServiceSettings

from .keeper import GRACE_SECONDS
from .kind import JobKind

VISIBILITY_TIMEOUT_SECONDS = 900
_MARGIN_SECONDS = 30.0


class DeadlineBeyondVisibility(ValueError):
    """A kind's deadline does not fit into the broker's visibility timeout."""


@dataclass(frozen=True, slots=True)
class Broker:
    """One service's part of the Redis server.

    `visibility_timeout_seconds` is how long a delivered message may stay unacknowledged before the broker delivers
    it again. That is harmless, as the second delivery claims nothing, but it must not be the normal case.
    """

    service: str
    url: str = field(repr=False)
    visibility_timeout_seconds: int = VISIBILITY_TIMEOUT_SECONDS

    @property
    def queue(self) -> str:
        """The queue of the service's jobs."""
        return f"{self.service}.jobs"

    def check(self, kinds: Iterable[JobKind[Any]]) -> None:
        """Raise `DeadlineBeyondVisibility` for a kind that may run longer than its message may stay out."""
        for kind in kinds:
            longest = kind.deadline_seconds + GRACE_SECONDS + _MARGIN_SECONDS
            if longest > self.visibility_timeout_seconds:
                raise DeadlineBeyondVisibility(
                    f"Job kind {kind.name} may run {kind.deadline_seconds:g} s. With the time for its end that is "
                    f"{longest:g} s, more than the broker's visibility timeout of {self.visibility_timeout_seconds} s: "
                    "the broker would deliver running jobs again. Shorten deadline_seconds or raise the timeout."
                )


def broker_of(settings: ServiceSettings) -> Broker:
    """The broker that `settings` name."""
    return Broker(settings.service_name, settings.redis_url())
