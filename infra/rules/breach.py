"""One broken rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Breach:
    """`where` is a file, or a part of one; `mend` says what to do, in a sentence."""

    where: str
    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}\n    {self.mend}"
