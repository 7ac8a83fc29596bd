"""Everyone who takes part: our own relay, the loops that people write, and the public peers."""

from __future__ import annotations

from .contestant import ALL_ROUNDS, Contestant, Feed, TableContestant
from .debezium import Debezium
from .faststream_outbox import FastStreamOutbox
from .fencepost import Fencepost
from .hand_tuned import HandTuned
from .omni_box import OmniBox
from .textbook import Textbook
from .txoutbox import TxOutbox
from .walbox import WalBox

CONTESTANTS: tuple[type[Contestant], ...] = (
    Fencepost,
    HandTuned,
    TxOutbox,
    FastStreamOutbox,
    OmniBox,
    WalBox,
    Debezium,
    Textbook,
)

__all__ = ["ALL_ROUNDS", "CONTESTANTS", "Contestant", "Feed", "Fencepost", "HandTuned", "TableContestant"]
