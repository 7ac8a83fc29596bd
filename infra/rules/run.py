"""The end of a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .breach import Breach


def finish(breaches: Sequence[Breach], *, about: str) -> None:
    """Print each breach with its mend and exit 1, or return when there is none. `about` says what the rules are for."""
    for breach in breaches:
        print(breach, file=sys.stderr)
    if breaches:
        sys.exit(f"{len(breaches)} rule(s) for {about} are broken.")
