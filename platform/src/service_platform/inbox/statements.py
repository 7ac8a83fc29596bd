"""Calling the SQL functions of the inbox inside a transaction."""

from __future__ import annotations

from typing import Any

from service_platform.database import Transaction


async def call(tx: Transaction, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """The rows that `statement` (placeholders $1, $2, …) returns, in `tx`."""
    return [tuple(row) for row in await tx.connection.exec_driver_sql(statement, values)]
