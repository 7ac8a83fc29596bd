"""Who acts, and by which door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Via = Literal["command", "http", "function"]

_LONGEST_ACTOR = 255


@dataclass(frozen=True, slots=True)
class Operator:
    """Whoever called an action: the token's subject, the user at the terminal, or the program that names itself.

    Raises ValueError for a name that no audit row could show: empty, longer than 255 characters, or not printable.
    """

    actor: str
    via: Via

    def __post_init__(self) -> None:
        if not 0 < len(self.actor) <= _LONGEST_ACTOR or not self.actor.isprintable():
            raise ValueError(f"an actor has 1 to {_LONGEST_ACTOR} printable characters, this is {self.actor[:300]!r}")
