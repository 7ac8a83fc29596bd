"""Everyone who takes part: our own relay, the loops that people write, and the public peers."""

from __future__ import annotations

from .contestant import Contestant, TableContestant
from .fencepost import Fencepost
from .hand_tuned import HandTuned

CONTESTANTS: tuple[type[Contestant], ...] = (Fencepost, HandTuned)

__all__ = ["CONTESTANTS", "Contestant", "Fencepost", "HandTuned", "TableContestant"]
