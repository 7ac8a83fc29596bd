"""Every place where a run of a job can die or be stopped: before each statement on the wire, and around each call.

On a real database (asyncpg's protocol is watched, so that BEGIN, COMMIT and the job's own statements count as well) and
on the real double in this process, through the real SDK. What befalls a run is a `Run` (see `payment_doubles`).
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import asyncpg.protocol
import httpx
import orjson
from payment_doubles import Crash, Run, current_run, reach, running
from payment_lab import NoLeases, open_payment
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
from service_platform.jobs import JobRunner, RunKey
from service_platform.jobs.run import CLAIMED

API_KEY = "sk_test_crash_points"
LATER_SECONDS = 400.0
"""Longer than any lease and backoff."""


class WatchedProtocol(asyncpg.protocol.Protocol):
    """asyncpg's own protocol, which lets the run at hand be disturbed before each statement."""

    async def query(self, query: str, *arguments: Any) -> Any:
        if query.startswith(("BEGIN", "COMMIT", "ROLLBACK")):
            await reach(query.strip(";"))
        answer = await super().query(query, *arguments)
        run = current_run()
        if run is not None:
            run.inside_transaction = self.is_in_transaction()
        return answer

    async def bind_execute(self, state: Any, *arguments: Any, **named: Any) -> Any:
        if not state.query.startswith("WITH RECURSIVE typeinfo_tree"):  # asyncpg's own, at the first use of a type
            await reach(" ".join(state.query.split())[:48])
        return await super().bind_execute(state, *arguments, **named)


class WatchedProvider:
    """The real adapter, which lets the run at hand be disturbed before each call leaves and after its answer came."""

    def __init__(self, inner: StripeCardProvider) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._inner, name)

        async def watched(*arguments: Any, **named: Any) -> Any:
            await reach(f"{name} sent")
            try:
                answer = await call(*arguments, **named)
            except Exception:
                await reach(f"{name} refused")
                raise
            await reach(f"{name} answered")
            return answer

        return watched


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


class CrashLab:
    """Two workers of the payment service (one may become a zombie), each with connections of its own."""

    def __init__(
        self,
        app: DatabaseAddress,
        owner: asyncpg.Connection[Any],
        watcher: asyncpg.Connection[Any],
        provider: InProcessProvider,
    ) -> None:
        self.provider = provider
        self._owner = owner
        self._watcher = watcher  # as the app role, which alone sees what the app role's sessions do
        self._looking = asyncio.Lock()
        self.calm = Database(app, application_name="calm", pool_size=4)
        self._databases = [Database(app, application_name=f"worker-{n}", pool_size=2) for n in (0, 1)]
        self._clients = [provider.client() for _ in range(3)]
        watched: list[Any] = [WatchedProvider(client) for client in self._clients[:2]]
        self._runners = [
            JobRunner(database, build_services(database, client).processors(), leases=NoLeases())
            for database, client in zip(self._databases, watched, strict=True)
        ]
        self.services: Services = build_services(self.calm, self._clients[2])

    async def close(self) -> None:
        for database in (self.calm, *self._databases):
            await database.close()
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

    async def deliver(self, job_id: UUID, run: Run | None = None, *, worker: int = 1) -> bool:
        """One delivery of a job to a worker; False if it crashed. An error ends it as a failed run."""
        kind = await self.value("SELECT kind FROM job WHERE id = $1", job_id)
        with running(run or Run()):
            try:
                await self._runners[worker].run(kind, job_id)
            except Crash:
                return False
        return True

    async def until_done(self, job_id: UUID, run: Run | None = None, *, worker: int = 1, limit: int = 8) -> bool:
        """Deliveries until the job is finished, with time between them; False if one crashed."""
        run = run or Run()
        for _ in range(limit):
            if not await self.deliver(job_id, run, worker=worker):
                return False
            if await self.value("SELECT status FROM job WHERE id = $1", job_id) == "done":
                return True
            await self.let_time_pass()
        said = await self.row("SELECT status, error FROM job WHERE id = $1", job_id)
        raise AssertionError(f"the job is not done after {limit} runs: {dict(said)}")

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
        await self.execute(
            "SELECT platform_clock_set(platform_now() - clock_timestamp() + make_interval(secs => $1), 1)", seconds
        )
        self.provider.adjustments.shift_clock(seconds)

    async def end_transaction_of(self, worker: int) -> None:
        """What the server does to a process that stands still inside a transaction, without the wait for it."""
        ended = await self._watcher.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = $1 AND datname = current_database() AND xact_start IS NOT NULL",
            f"worker-{worker}",
        )
        assert len(ended) == 1, "the stopped worker has no transaction open"

    async def waits_for_lock(self, application: str) -> bool:
        """Whether a session of that name waits for somebody's lock."""
        found = await self._watcher.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"
            " AND wait_event_type = 'Lock'",
            application,
        )
        return bool(found)

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

    async def value(self, query: str, *arguments: Any) -> Any:
        row = await self.row(query, *arguments)
        return row[0] if row is not None else None

    async def row(self, query: str, *arguments: Any) -> Any:
        async with self._looking:
            return await self._owner.fetchrow(query, *arguments)

    async def execute(self, query: str, *arguments: Any) -> None:
        async with self._looking:
            await self._owner.execute(query, *arguments)
