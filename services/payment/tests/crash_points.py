"""Every place where a run of a job can die or be stopped: before each statement on the wire, and around each call.

On a real database and on the real double in this process, through the real SDK. What befalls a run is a `Run` (see
`world.crashing`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import orjson
from payment_lab import open_payment
from starlette.applications import Starlette

from payment_service.bootstrap import Services, build_services
from payment_service.domain.payments import (
    CAPTURE_PAYMENT,
    REFUND_PAYMENT,
    CancelPayment,
    IntentRequest,
    RefundView,
    RequestRefund,
)
from payment_service.integrations import StripeCardProvider
from provider_double.adjustments import Adjustments
from provider_double.connections import Connections
from provider_double.desk import Desk
from provider_double.events import Events
from provider_double.faults import FaultRule, Faults
from provider_double.intents import PaymentIntents
from provider_double.ledger import Ledger
from provider_double.refunds import Refunds
from provider_double.store import Store
from provider_double.stripe_api import StripeApi
from service_platform.database import Database, DatabaseAddress
from service_platform.idempotency import IdempotencyClaim
from service_platform.inbox import InboxClaim
from service_platform.jobs import FencedProcessor, RunKey
from service_platform.jobs.run import CLAIMED
from world.crash_workers import LATER_SECONDS, CrashWorkers
from world.crashing import Watched

API_KEY = "sk_test_crash_points"


class InProcessProvider:
    """The provider double without a network: its own API, ledger, keys and clock."""

    def __init__(self, state_dir: Path) -> None:
        self.store = Store(state_dir)
        self.adjustments = Adjustments(self.store)
        self.ledger = Ledger(self.store)
        self.faults = Faults()
        events = Events(self.store, enabled=False)
        api = StripeApi(
            api_key=API_KEY,
            desk=Desk(self.store, self.adjustments, self.ledger, self.faults),
            connections=Connections(),
            intents=PaymentIntents(self.store, self.adjustments, self.ledger, events),
            refunds=Refunds(self.store, self.adjustments, self.ledger, events),
            answered=lambda: None,
        )
        self._app = Starlette(routes=api.routes())

    def client(self) -> StripeCardProvider:
        provider = StripeCardProvider(api_key=API_KEY, api_base="http://double")
        sdk: Any = provider._http
        sdk._client_async = httpx.AsyncClient(transport=httpx.ASGITransport(self._app))
        return provider

    def moves(self, payment_id: UUID) -> list[tuple[str, int]]:
        """What moved for a payment: kind and amount."""
        rows = self.ledger.moves(0, 100, payment_id=str(payment_id))
        return [(row["kind"], row["amount"]) for row in rows]

    def captured_intents(self, payment_id: UUID) -> list[str]:
        return [row["intent"] for row in self.ledger.moves(0, 100, payment_id=str(payment_id), kind="capture")]

    def intents(self, payment_id: UUID) -> dict[str, str]:
        """The states of all intents that were made for a payment, by id."""
        rows = self.store.connection.execute(
            "select id, doc from intents where json_extract(doc, '$.metadata.payment_id') = ?", (str(payment_id),)
        )
        return {row["id"]: orjson.loads(row["doc"])["status"] for row in rows}


class CrashLab(CrashWorkers):
    """Two workers of the payment service (one may become a zombie), each with connections and a client of its own."""

    def __init__(
        self,
        app: DatabaseAddress,
        owner: asyncpg.Connection[Any],
        watcher: asyncpg.Connection[Any],
        provider: InProcessProvider,
    ) -> None:
        self.provider = provider
        self._clients = [provider.client() for _ in range(3)]

        def processors(database: Database, worker: int) -> list[FencedProcessor[Any]]:
            watched: Any = Watched(self._clients[worker])
            return build_services(database, watched).processors()

        super().__init__(app, owner, watcher, processors)
        self.services: Services = build_services(self.calm, self._clients[2])

    async def close(self) -> None:
        await super().close()
        for client in self._clients:
            await client.close()
        self.provider.store.close()

    async def placed(self, payment_method: str = "pm_card_visa") -> UUID:
        """A payment of 19.99 EUR with its job; its id."""
        order_id = uuid4()
        await self.services.payments.open_payment(open_payment(order_id, payment_method=payment_method))
        payment_id: UUID = await self.value("SELECT id FROM payments WHERE order_id = $1", order_id)
        return payment_id

    async def captured(self, amount_minor: int = 1999) -> UUID:
        """A settled payment, made by hand; its id."""
        payment_id, order_id = uuid4(), uuid4()
        request = IntentRequest(
            payment_id=payment_id,
            order_id=order_id,
            amount_minor=amount_minor,
            currency="EUR",
            payment_method="pm_card_visa",
        )
        key = RunKey(CLAIMED, job_id=uuid4(), step="by-hand", token=1)
        intent = await self._clients[2].create_intent(request, key)
        await self._clients[2].confirm_intent(intent.id, RunKey(CLAIMED, job_id=uuid4(), step="by-hand", token=1))
        await self.execute(
            "INSERT INTO payments"
            " (id, order_id, status, amount_minor, currency, payment_method, intent_id, concluded_at)"
            " VALUES ($1, $2, 'settled', $3, 'EUR', 'pm_card_visa', $4, platform_now())",
            payment_id, order_id, amount_minor, intent.id,
        )  # fmt: skip
        return payment_id

    async def refund(self, payment_id: UUID, amount_minor: int) -> RefundView:
        claim = IdempotencyClaim(subject="eve", operation="refund_payment", key=str(uuid4()), fingerprint=b"1")
        return await self.services.refunds.request(
            RequestRefund(idempotency=claim, payment_id=payment_id, amount_minor=amount_minor)
        )

    async def cancel(self, order_id: UUID) -> None:
        """The order's cancel is delivered."""
        claim = InboxClaim("payment.cancel-payment", "order", str(order_id), uuid4())
        await self.services.payments.cancel(CancelPayment(claim=claim, order_id=order_id))

    async def finish(self, payment_id: UUID) -> None:
        """Every job that the payment has, and gets meanwhile, undisturbed to its end."""
        while (job_id := await self.unfinished_job(payment_id)) is not None:
            await self.until_done(job_id)

    async def unfinished_job(self, payment_id: UUID) -> UUID | None:
        found: UUID | None = await self.value(
            "SELECT id FROM job WHERE status <> 'done' AND (payload ->> 'payment_id' = $1::text"
            " OR payload ->> 'refund_id' IN (SELECT id::text FROM refunds WHERE payment_id = $1::text::uuid))"
            " ORDER BY created_at LIMIT 1",
            str(payment_id),
        )
        return found

    async def capture_job(self, payment_id: UUID) -> UUID:
        job_id: UUID = await self.value(
            "SELECT id FROM job WHERE kind = $1 AND job_key = $2", CAPTURE_PAYMENT.name, f"capture:{payment_id}"
        )
        return job_id

    async def refund_job(self, refund_id: UUID) -> UUID:
        job_id: UUID = await self.value(
            "SELECT id FROM job WHERE kind = $1 AND job_key = $2", REFUND_PAYMENT.name, f"refund:{refund_id}"
        )
        return job_id

    async def let_time_pass(self, seconds: float = LATER_SECONDS) -> None:
        """Leases and backoffs are over, here and at the provider."""
        await super().let_time_pass(seconds)
        self.provider.adjustments.shift_clock(seconds)

    async def told(self, payment_id: UUID) -> list[str]:
        """The events of the payment's order, in their order."""
        names: list[str] | None = await self.value(
            "SELECT array_agg(headers ->> 'event-name' ORDER BY position) FROM outbox WHERE channel = 'kafka'"
            " AND key = (SELECT order_id::text FROM payments WHERE id = $1)",
            payment_id,
        )
        return names or []

    def meets(self, **rule: Any) -> None:
        """The double meets the next calls with this."""
        self.provider.faults.add(FaultRule(**rule))
