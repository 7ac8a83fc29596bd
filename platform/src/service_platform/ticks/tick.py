"""A tick is data: what is to be done, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from service_platform.jobs import JobKind

from .cron import Cron

PayloadT = TypeVar("PayloadT", bound=BaseModel)

LONGEST_NAME = 60
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class MissedRuns(StrEnum):
    """What becomes of due minutes in which no replica of the scheduler came to claim them."""

    SKIP = "skip"
    """They are passed over: the next run is at the next due minute."""
    RUN_ONCE = "run-once"
    """One run makes up for all of them, as soon as a replica is there again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Generic[PayloadT]):
    """Enqueues one job of `kind` with `payload` at each minute that `cron` names (five fields, UTC).

    `name` is the tick's own in its service, like `expire-orders`. Renaming a tick makes a new one, which starts at
    that moment. `payload` holds ids and literals only: it is the same for every run.

    Raises TypeError, ValueError or `CronInvalid` for a tick that could never work.
    """

    name: str
    cron: str
    kind: JobKind[PayloadT]
    payload: PayloadT
    missed: MissedRuns
    schedule: Cron = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > LONGEST_NAME:
            raise ValueError(f"Tick {self.name!r}: name it like expire-orders, in at most {LONGEST_NAME} characters")
        if not isinstance(self.payload, self.kind.payload):
            raise TypeError(f"Tick {self.name}: a {self.kind.name} job takes a {self.kind.payload.__name__}")
        for name, value in self.payload.model_dump(mode="json").items():
            if not isinstance(value, str | int | bool | None):
                raise TypeError(f"Tick {self.name}: {name} is neither an id nor a literal. Let the job look it up.")
        object.__setattr__(self, "schedule", Cron(self.cron))


JobTicks = tuple[Tick[Any], ...]
"""All ticks of a service."""


def checked(ticks: Iterable[Tick[Any]], service: str) -> JobTicks:
    """The ticks of `service`, if they can live together.

    Raises ValueError for two of one name, and for a job kind of another service, whose workers no hint would reach.
    """
    by_name: dict[str, Tick[Any]] = {}
    for tick in ticks:
        if by_name.setdefault(tick.name, tick) is not tick:
            raise ValueError(f"Two ticks are named {tick.name}: rename one")
        if tick.kind.service != service:
            raise ValueError(f"Tick {tick.name} of {service} starts jobs of {tick.kind.service}: let it start its own")
    return tuple(by_name.values())
