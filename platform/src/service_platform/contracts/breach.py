"""A rule that does not hold, and the mend."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Breach:
    """Says where (`file`, `event`, and `field` if it is about one), what is wrong there and how to mend it."""

    file: str
    event: str
    fact: str
    mend: str
    field: str = ""

    def __str__(self) -> str:
        where = f"{self.event}, field {self.field}" if self.field else self.event
        return f"{self.file}: {where}: {self.fact}.\n    Mend: {self.mend}."
