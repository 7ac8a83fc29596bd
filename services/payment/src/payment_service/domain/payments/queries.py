"""What can be read about payments. Queries write nothing and publish nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Database

from . import reading
from .errors import PaymentNotFound, RefundNotFound
from .payment_table import PaymentTable
from .refund_table import RefundTable
from .views import PaymentView, RefundView


class PaymentQueries:
    """Reads payments and their refunds, of all orders."""

    def __init__(self, database: Database, payments: PaymentTable, refunds: RefundTable) -> None:
        self._database = database
        self._payments = payments
        self._refunds = refunds

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
            return [PaymentView.of(payment) for payment in await reading.newest_payments(before, limit, session)]

    async def refund(self, payment_id: UUID, refund_id: UUID) -> RefundView:
        """One refund of a payment. Raises `PaymentNotFound`, `RefundNotFound`."""
        async with self._database.read() as session:
            payment = await self._payments.find(payment_id, session)
            refund = await self._refunds.find(refund_id, session)
        if payment is None:
            raise PaymentNotFound(payment_id)
        if refund is None or refund.payment_id != payment_id:
            raise RefundNotFound(payment_id=str(payment_id), refund_id=str(refund_id))
        return RefundView.of(refund, payment.currency)

    async def refunds(self, payment_id: UUID, *, before: tuple[datetime, UUID] | None, limit: int) -> list[RefundView]:
        """Up to `limit` refunds of a payment, newest first, from before the position. Raises `PaymentNotFound`."""
        async with self._database.read() as session:
            payment = await self._payments.find(payment_id, session)
            if payment is None:
                raise PaymentNotFound(payment_id)
            refunds = await reading.newest_refunds(payment_id, before, limit, session)
        return [RefundView.of(refund, payment.currency) for refund in refunds]


async def payments_under_review(
    session: AsyncSession, *, after: tuple[datetime, UUID] | None, limit: int
) -> Sequence[PaymentView]:
    """Up to `limit` payments that need review, the oldest first, from after the position."""
    return [PaymentView.of(payment) for payment in await reading.payments_under_review(after, limit, session)]


async def refunds_under_review(
    session: AsyncSession, *, after: tuple[datetime, UUID] | None, limit: int
) -> Sequence[RefundView]:
    """Up to `limit` refunds that need review, the oldest first, from after the position."""
    found = await reading.refunds_under_review(after, limit, session)
    return [RefundView.of(refund, currency) for refund, currency in found]
