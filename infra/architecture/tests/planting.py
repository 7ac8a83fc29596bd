"""The suite's code with one thing changed, as somebody who copies it would change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from architecture import Source, read_sources
from architecture.sources import name_of
from native.layout import ROOT

SOURCES: Final = read_sources(ROOT)

ORDERS: Final = "services/order/src/order_service"
PAYMENTS: Final = "services/payment/src/payment_service"
BILLING: Final = "services/billing/src/billing_service"
PLATFORM: Final = "platform/src/service_platform"


@dataclass(frozen=True)
class Plant:
    """In the file `path`, `found` becomes `planted`; a file that is not there is made of `planted`.

    `said` is a part of what the breach says.
    """

    path: str
    found: str
    planted: str
    said: str

    def sources(self) -> Sequence[Source]:
        """The code with it."""
        there = {source.path: source for source in SOURCES}
        text = there[self.path].text if self.path in there else ""
        assert self.found in text, f"{self.path} has no {self.found!r} any more: plant it elsewhere"
        changed = text.replace(self.found, self.planted) if self.found else text + self.planted
        name = name_of(Path(self.path.partition("/src/")[2] or self.path.removeprefix("infra/")))
        return [*(source for source in SOURCES if source.path != self.path), Source(self.path, name, changed)]


def at_top(path: str, line: str, said: str) -> Plant:
    """A Plant of one more import in a file."""
    return Plant(path, "from __future__ import annotations\n", f"from __future__ import annotations\n\n{line}\n", said)
