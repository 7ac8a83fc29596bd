"""The payment service on a real database and the real SDK, its jobs run by hand instead of by Celery."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import httpx
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from payment_service.bootstrap import build_services
from payment_service.domain.payments import (
    RECONCILE_PAYMENTS,
    CancelPayment,
    CardProvider,
    OpenPayment,
    PaymentStatus,
    PaymentTable,
    ReconcilePaymentsPayload,
    RefundView,
    RequestRefund,
)
from service_platform.database import Database, DatabaseAddress
from service_platform.idempotency import IdempotencyClaim
from service_platform.inbox import InboxClaim
from service_platform.jobs import JobRunner
from world.crash_workers import NoLeases


class PaymentLab:
    """Opens payments and runs their jobs. `ledger` reads the provider double's."""

    def __init__(
        self, database: Database, owner: DatabaseAddress, provider: CardProvider, double: httpx.AsyncClient
    ) -> None:
        self.database = database
        self.double = double
        self.provider = provider
        self.services = build_services(database, provider)
        self.service = self.services.payments
        self._owner = owner
        self._runner = JobRunner(database, self.services.processors(), leases=NoLeases())

    async def placed(
        self, *, total_minor: int = 1999, currency: str = "EUR", payment_method: str = "pm_card_visa"
    ) -> UUID:
        """An order was placed; its id."""
        order_id = uuid4()
        await self.service.open_payment(
            open_payment(order_id, total_minor=total_minor, currency=currency, payment_method=payment_method)
        )
        return order_id

    async def settled(self, *, total_minor: int = 1999) -> dict[str, Any]:
        """An order was placed and its payment captured; the payment."""
        order_id = await self.placed(total_minor=total_minor)
        await self.deliver()
        payment = await self.payment(order_id)
        assert payment["status"] == "settled"
        return payment

    async def cancelled(self, order_id: UUID) -> None:
        """The order's cancel was delivered, for the first time."""
        await self.service.cancel(
            CancelPayment(claim=InboxClaim("payment.cancel-payment", "order", "key", uuid4()), order_id=order_id)
        )

    async def refund(self, payment_id: UUID, amount_minor: int | None = None) -> RefundView:
        """Somebody asked for a refund, with a key of its own."""
        claim = IdempotencyClaim(subject="eve", operation="refund_payment", key=str(uuid4()), fingerprint=b"1")
        return await self.services.refunds.request(
            RequestRefund(idempotency=claim, payment_id=payment_id, amount_minor=amount_minor)
        )

    async def deliver(self) -> None:
        """Deliver the hint of every job that is not finished, due or not, and of those that they enqueue."""
        seen: set[UUID] = set()
        while True:
            jobs = await self.rows("SELECT id, kind FROM job WHERE status NOT IN ('done', 'dead') ORDER BY created_at")
            new = [job for job in jobs if job["id"] not in seen]
            if not new:
                return
            for job in new:
                seen.add(job["id"])
                await self._runner.run(job["kind"], job["id"])

    async def deliver_again(self, job_id: UUID) -> None:
        """Deliver the hint of a job that may be finished."""
        (job,) = await self.rows(f"SELECT kind FROM job WHERE id = '{job_id}'")
        await self._runner.run(job["kind"], job_id)

    async def reconcile(self, *, lookback_hours: int = 72) -> None:
        """A tick fired, and all that it leads to has run."""
        async with self.database.transaction() as tx:
            payload = ReconcilePaymentsPayload(lookback_hours=lookback_hours)
            await RECONCILE_PAYMENTS.enqueue(payload, tx, key=f"reconcile:{uuid4()}")
        await self.deliver()

    async def under_review(self, reason: str = "open_too_long") -> dict[str, Any]:
        """The one payment needs review, as when a check found that; the payment."""
        async with self.database.transaction() as tx:
            payment = await PaymentTable().put_under_review(
                (await self.payment())["id"], reason, expected=PaymentStatus((await self.payment())["status"]), tx=tx
            )
        assert payment is not None
        return await self.payment()

    async def kill_jobs(self) -> None:
        """The jobs that there are will never run again, as when their claims are used up."""
        await self._as_owner("UPDATE job SET status = 'dead', finished_at = platform_now() WHERE status <> 'done'")

    async def let_time_pass(self, how_long: str = "1 day") -> None:
        """Every backoff and lease is over; the provider's clock moves as far."""
        seconds = await self._as_owner(
            "SELECT extract(epoch FROM cast(:by as text)::interval)::float8 FROM platform_clock_set("
            "(SELECT platform_now()) - now() + cast(:by as text)::interval, 1)",
            by=how_long,
        )
        (await self.double.post("/clock", json={"shift_seconds": seconds})).raise_for_status()

    async def _as_owner(self, statement: str, **values: Any) -> Any:
        engine = create_async_engine(self._owner.url(), poolclass=NullPool)
        async with engine.begin() as connection:
            answer = await connection.execute(text(statement), values)
            value = answer.scalar_one() if answer.returns_rows else None
        await engine.dispose()
        return value

    async def rows(self, query: str) -> list[dict[str, Any]]:
        async with self.database.read() as session:
            return [dict(row) for row in (await session.execute(text(query))).mappings()]

    async def payment(self, order_id: UUID | None = None) -> dict[str, Any]:
        """The payment of the order, or the one that there is."""
        (payment,) = await self.rows(
            "SELECT * FROM payments" + (f" WHERE order_id = '{order_id}'" if order_id is not None else "")
        )
        return payment

    async def refunds(self) -> list[dict[str, Any]]:
        """All refunds, the oldest first."""
        return await self.rows("SELECT * FROM refunds ORDER BY created_at, id")

    async def told(self) -> list[str]:
        """The events that wait for the relay, in their order."""
        rows = await self.rows(
            "SELECT headers ->> 'event-name' AS name FROM outbox WHERE channel = 'kafka' ORDER BY position"
        )
        return [row["name"] for row in rows]

    async def ledger(self) -> dict[str, Any]:
        ledger: dict[str, Any] = (await self.double.get("/ledger")).json()
        return ledger

    async def moved(self) -> list[tuple[str, int]]:
        """What the provider's ledger says that moved: kind and amount."""
        return [(move["kind"], move["amount"]) for move in (await self.ledger())["moves"]]

    async def fault(self, **rule: Any) -> None:
        (await self.double.post("/faults", json=rule)).raise_for_status()

    async def at_the_provider(self, intent_id: str) -> str:
        """The state of an intent in the provider's own words."""
        page = (await self.double.get("/webhooks", params={"object": intent_id})).json()
        return str(page["events"][-1]["body"]["data"]["object"]["status"])


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
