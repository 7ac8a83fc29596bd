"""The payment service on a real database and the real SDK, its jobs run by hand instead of by Celery."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import httpx
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from payment_service.bootstrap import payment_service
from payment_service.domain.payments import CAPTURE_PAYMENT, CardProvider, OpenPayment
from payment_service.jobs import CapturePayment
from service_platform.database import Database, DatabaseAddress
from service_platform.inbox import InboxClaim
from service_platform.jobs import JobRunner, Lease


class _NoLeases:
    """Jobs here are over before a lease needs renewing."""

    def watch(self, lease: Lease) -> None:
        return None


class PaymentLab:
    """Opens payments and runs their jobs. `ledger` reads the provider double's."""

    def __init__(
        self, database: Database, owner: DatabaseAddress, provider: CardProvider, double: httpx.AsyncClient
    ) -> None:
        self.database = database
        self.double = double
        self.service = payment_service(database, provider)
        self._owner = owner
        self._runner = JobRunner(database, [CapturePayment(self.service)], leases=_NoLeases())

    async def placed(
        self, *, total_minor: int = 1999, currency: str = "EUR", payment_method: str = "pm_card_visa"
    ) -> UUID:
        """An order was placed; its id."""
        order_id = uuid4()
        await self.service.open_payment(
            open_payment(order_id, total_minor=total_minor, currency=currency, payment_method=payment_method)
        )
        return order_id

    async def deliver(self) -> None:
        """Deliver the hint of every job that there is, due or not."""
        for job in await self.rows("SELECT id FROM job ORDER BY created_at"):
            await self._runner.run(CAPTURE_PAYMENT.name, job["id"])

    async def let_time_pass(self) -> None:
        """Every backoff and lease is over."""
        engine = create_async_engine(self._owner.url(), poolclass=NullPool)
        async with engine.begin() as connection:
            await connection.execute(text("SELECT platform_clock_set((SELECT platform_now()) - now() + '1 day', 1)"))
        await engine.dispose()

    async def rows(self, query: str) -> list[dict[str, Any]]:
        async with self.database.read() as session:
            return [dict(row) for row in (await session.execute(text(query))).mappings()]

    async def payment(self) -> dict[str, Any]:
        """The one payment that there is."""
        (payment,) = await self.rows("SELECT * FROM payments")
        return payment

    async def told(self) -> list[str]:
        """The events that wait for the relay."""
        rows = await self.rows("SELECT headers ->> 'event-name' AS name FROM outbox WHERE channel = 'kafka'")
        return [row["name"] for row in rows]

    async def ledger(self) -> dict[str, Any]:
        ledger: dict[str, Any] = (await self.double.get("/ledger")).json()
        return ledger

    async def fault(self, **rule: Any) -> None:
        (await self.double.post("/faults", json=rule)).raise_for_status()


def open_payment(order_id: UUID, **changes: Any) -> OpenPayment:
    """The command that a first delivery of `order.placed` makes."""
    values: dict[str, Any] = {
        "claim": InboxClaim("payment.open-payment", "order", "key", uuid4()),
        "order_id": order_id,
        "total_minor": 1999,
        "currency": "EUR",
        "payment_method": "pm_card_visa",
    }
    return OpenPayment(**(values | changes))
