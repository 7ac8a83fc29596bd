"""Which of the two runs the suite that is up: `infra/runner.sh` reads what is written here."""

from __future__ import annotations

from typing import Literal

from .layout import ROOT

Runner = Literal["native", "containers"]

_FILE = ROOT / ".fencepost" / "runner"


def remember(runner: Runner) -> None:
    """From now on `make down`, `make ps` and the others go to `runner`."""
    _FILE.parent.mkdir(exist_ok=True)
    _FILE.write_text(f"{runner}\n", encoding="utf-8")


def forget() -> None:
    """The next `make up` chooses anew."""
    _FILE.unlink(missing_ok=True)
