"""The loop that a good engineer tunes by hand: a thousand rows, one flush, one update; one relay at a time."""

from __future__ import annotations

from typing import ClassVar

from .polled_table import PolledTable


class HandTuned(PolledTable):
    """See `programs/hand_tuned.py`. It knows no parking, no retry and no tuning of the broker's answers: no guard."""

    name: ClassVar[str] = "hand-tuned"
    relay: ClassVar[str] = "hand_tuned"
    also_cold: ClassVar[bool] = True
