"""One database a service: transactions that claim first, and the schema rules of every platform table.

Two more surfaces, for migrations only, so that no running process loads Alembic: `database.migrations` and
`database.schema`.
"""

from .engine import CommitObserver, Database, DatabaseAddress
from .pool import PoolExhausted, TransactionLost
from .transaction import (
    Claim,
    ClaimRefused,
    ExternalCallInTransaction,
    Transaction,
    TransactionPart,
    forbid_in_transaction,
)
from .trouble import DATABASE_LOST, is_transient

__all__ = [
    "DATABASE_LOST",
    "Claim",
    "ClaimRefused",
    "CommitObserver",
    "Database",
    "DatabaseAddress",
    "ExternalCallInTransaction",
    "PoolExhausted",
    "Transaction",
    "TransactionLost",
    "TransactionPart",
    "forbid_in_transaction",
    "is_transient",
]
