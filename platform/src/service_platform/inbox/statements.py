"""Calling the SQL functions of the inbox inside a transaction."""

from __future__ import annotations

from typing import Any

import asyncpg

from service_platform.database import Transaction


async def call(tx: Transaction, statement: str, *values: Any) -> list[asyncpg.Record]:
    """The rows that `statement` (placeholders $1, $2, …) returns, in `tx`."""
    driver = await tx.driver()
    return await driver.fetch(statement, *values)
