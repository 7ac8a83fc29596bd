"""What a service promises with its events, and whether it and its readers keep to it.

The rules for a change stand in `change.py`, those for a reader in `reading.py`; `docs/events.md` shows both at work.
"""

from .base import Base, Contracts, NoSuchBase, find_base
from .breach import Breach
from .change import breaches_of_change, next_name
from .check import breaches, contracts_now, refusals, write
from .contract import EventContract, UnreadableContract, contracts_text, parse_contracts, read_contracts
from .declared import Reader, contract_of, package_of, published_by, read_by, reader_of
from .gaps import Gap, GapKind, gaps
from .reading import breaches_of_reader

__all__ = [
    "Base",
    "Breach",
    "Contracts",
    "EventContract",
    "Gap",
    "GapKind",
    "NoSuchBase",
    "Reader",
    "UnreadableContract",
    "breaches",
    "breaches_of_change",
    "breaches_of_reader",
    "contract_of",
    "contracts_now",
    "contracts_text",
    "find_base",
    "gaps",
    "next_name",
    "package_of",
    "parse_contracts",
    "published_by",
    "read_by",
    "read_contracts",
    "reader_of",
    "refusals",
    "write",
]
