"""What can happen to a stack, and when: a schedule that its seed alone decides."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

PROVIDER_FAULTS = {
    "lost before its effect": {"operation": "*", "point": "before", "outcome": "drop", "times": 3},
    "lost after its effect": {"operation": "*", "point": "after", "outcome": "drop", "times": 3},
    "fails before its effect": {"operation": "*", "outcome": "status", "status": 500, "stored": False, "times": 3},
    "fails after its effect": {
        "operation": "*",
        "point": "after",
        "outcome": "status",
        "status": 502,
        "stored": False,
        "times": 3,
    },
    "throttled": {"operation": "*", "outcome": "status", "status": 429, "code": "rate_limit", "times": 3},
    "slow": {"operation": "*", "point": "after", "delay_seconds": 8, "times": 2},
}
"""Rules of the provider double, by what becomes of the next calls."""

MAIL_FAULTS = {
    "refused for now": {"outcome": "refuse", "times": 2},
    "lost before it is stored": {"outcome": "drop", "times": 2},
    "lost after it is stored": {"outcome": "store_and_drop", "times": 2},
}
"""Rules of the mail catcher, by what becomes of the next mails."""


class Way(StrEnum):
    """How something is struck."""

    KILL = "kill -9"
    KILL_CHILD = "kill -9 of a child of"
    FREEZE = "SIGSTOP and SIGCONT of"
    RESTART = "restart of"
    CUT = "connections cut to"
    SLOW = "connections slowed to"
    PROVIDER = "provider call"
    MAIL = "mail"


@dataclass(frozen=True)
class Blow:
    """One blow. What lasts (frozen, cut, slowed) does so for `seconds`."""

    way: Way
    target: str
    seconds: float = 0.0

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.way} {self.target}{lasting}"


@dataclass(frozen=True)
class Planned:
    """A blow, and when: in seconds since the beginning."""

    at: float
    blow: Blow


@dataclass(frozen=True)
class Targets:
    """What there is to strike: names of processes, and of the servers whose connections go through a proxy."""

    processes: Sequence[str]
    workers: Sequence[str]
    stores: Sequence[str]
    routes: Sequence[str] = ()


_PAUSE_SECONDS = (1.5, 4.0)
_FROZEN_SECONDS = (1.0, 9.0)
_CUT_SECONDS = (0.5, 5.0)
_SLOW_SECONDS = (3.0, 8.0)


def schedule(seed: int, duration: float, targets: Targets) -> list[Planned]:
    """The blows of `duration` seconds.

    Every kind of blow at every target comes once before any comes again: a run that is long enough has tried all.
    """
    dice = random.Random(seed)
    blows = _without_end(dice, targets)
    planned: list[Planned] = []
    at = dice.uniform(*_PAUSE_SECONDS)
    while at < duration:
        planned.append(Planned(at, next(blows)))
        at += dice.uniform(*_PAUSE_SECONDS)
    return planned


def _without_end(dice: random.Random, targets: Targets) -> Iterator[Blow]:
    while True:
        deck = list(_deck(dice, targets))
        dice.shuffle(deck)
        yield from deck


def _deck(dice: random.Random, targets: Targets) -> Iterator[Blow]:
    for name in targets.processes:
        yield Blow(Way.KILL, name)
        yield Blow(Way.FREEZE, name, dice.uniform(*_FROZEN_SECONDS))
    for name in targets.workers:
        yield Blow(Way.KILL_CHILD, name)
    for name in targets.stores:
        yield Blow(Way.RESTART, name)
    for name in targets.routes:
        yield Blow(Way.CUT, name, dice.uniform(*_CUT_SECONDS))
        yield Blow(Way.SLOW, name, dice.uniform(*_SLOW_SECONDS))
    for fault in PROVIDER_FAULTS:
        yield Blow(Way.PROVIDER, fault)
    for fault in MAIL_FAULTS:
        yield Blow(Way.MAIL, fault)
