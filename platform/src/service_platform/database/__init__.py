"""One database a service: transactions that claim first, and the schema rules of every platform table."""

from .engine import CommitObserver, Database, DatabaseAddress
from .migrations import run_migrations
from .transaction import (
    Claim,
    ClaimRefused,
    ExternalCallInTransaction,
    Transaction,
    TransactionPart,
    forbid_in_transaction,
)

__all__ = [
    "Claim",
    "ClaimRefused",
    "CommitObserver",
    "Database",
    "DatabaseAddress",
    "ExternalCallInTransaction",
    "Transaction",
    "TransactionPart",
    "forbid_in_transaction",
    "run_migrations",
]
