"""What can be read about payments. Queries write nothing and publish nothing."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from service_platform.database import Database

from .errors import PaymentNotFound
from .table import PaymentTable
from .views import PaymentView


class PaymentQueries:
    """Reads payments, of all orders."""

    def __init__(self, database: Database, payments: PaymentTable) -> None:
        self._database = database
        self._payments = payments

    async def get(self, payment_id: UUID) -> PaymentView:
        """One payment. Raises `PaymentNotFound`."""
        async with self._database.read() as session:
            payment = await self._payments.find(payment_id, session)
        if payment is None:
            raise PaymentNotFound(payment_id)
        return PaymentView.of(payment)

    async def newest(self, *, before: tuple[datetime, UUID] | None, limit: int) -> list[PaymentView]:
        """Up to `limit` payments, newest first, from before the position (created at, id)."""
        async with self._database.read() as session:
            return [PaymentView.of(payment) for payment in await self._payments.newest(before, limit, session)]
