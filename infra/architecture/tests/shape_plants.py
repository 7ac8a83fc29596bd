"""Violations of the rules for the shape of the code: by rule, as somebody who copies the suite would make them."""

from __future__ import annotations

from architecture.tests.planting import BILLING, ORDERS, PAYMENTS, PLATFORM, Plant, at_top

SERVICE = f"{PAYMENTS}/domain/payments/service.py"
REACTOR = f"{PAYMENTS}/reactors/cancel_payment.py"
STEP = f"{PAYMENTS}/jobs/refund_payment.py"
ROUTES = f"{ORDERS}/api/orders.py"
QUERIES = f"{ORDERS}/domain/orders/queries.py"
CONCLUDE = (
    "        await self._conclude(payment.id, outcome, intent_id=payment.confirming_intent, fence=command.fence)\n"
)

SHAPE_PLANTS: dict[str, list[Plant]] = {
    "a_package_is_imported_through_its_surface": [
        at_top(
            ROUTES, "from order_service.domain.orders.models import OrderStatus", "into order_service.domain.orders"
        ),
        at_top(REACTOR, "from payment_service.events.order.order_placed import OrderPlaced", "events.order"),
        at_top(SERVICE, "from service_platform.jobs.run import Fence", "`from service_platform.jobs import …`"),
        at_top(
            f"{PLATFORM}/ops/audit.py", "from service_platform.jobs import statements", "service_platform.jobs.stat"
        ),
    ],
    "nothing_is_exported_by_star_or_by_another_name": [
        Plant(
            f"{ORDERS}/domain/orders/__init__.py",
            "from .commands import (",
            "from .commands import *\nfrom .commands import (",
            "Name what you take",
        ),
        Plant(
            f"{ORDERS}/domain/orders/__init__.py",
            "from .service import OrderService",
            "from .service import OrderServiceV2 as OrderService",
            "OrderServiceV2 is exported as OrderService",
        ),
        Plant(
            f"{ORDERS}/domain/orders/__init__.py",
            "__all__ = [",
            "OrderService = OrderServiceV2\n\n__all__ = [",
            "OrderServiceV2 is exported as OrderService",
        ),
    ],
    "no_table_leaves_its_capability": [
        Plant(
            f"{ORDERS}/domain/orders/__init__.py",
            "from .tables import metadata\n",
            "from .tables import metadata, orders\n\n__all__ = ['metadata', 'orders']\n",
            "exports its table orders",
        ),
        at_top(
            f"{PAYMENTS}/jobs/capture_payment.py",
            "from payment_service.domain.payments import PaymentTable",
            "takes PaymentTable",
        ),
        Plant(
            f"{PAYMENTS}/domain/payouts/service.py",
            "",
            "from payment_service.domain.payments import PaymentTable\n",
            "takes PaymentTable",
        ),
    ],
    "a_table_has_one_owner": [
        Plant(
            f"{ORDERS}/domain/reports/tables.py",
            "",
            "from sqlalchemy import Column, MetaData, Table, Text\n\n"
            'orders = Table("orders", MetaData(), Column("id", Text))\n',
            "table of order_service.domain",
        ),
        Plant(
            f"{PAYMENTS}/domain/payments/queries.py",
            "class PaymentQueries:",
            '_STUCK = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"\n\n\nclass PaymentQueries:',
            "it touches outbox, a table of service_platform.outbox",
        ),
        Plant(
            f"{PAYMENTS}/domain/payments/queries.py",
            "class PaymentQueries:",
            '_STUCK = "select count(*) from outbox"\n\n\nclass PaymentQueries:',
            "it touches outbox, a table of service_platform.outbox",
        ),
        Plant(
            f"{PLATFORM}/ticks/run_now.py",
            '"SELECT id FROM job WHERE job_key = :key"',
            "\"UPDATE job SET status = 'pending' WHERE job_key = :key\"",
            "a table of service_platform.jobs",
        ),
        Plant(
            f"{PAYMENTS}/domain/audits/service.py",
            "",
            'from sqlalchemy import column, table\n\n_PAYMENTS = table("payments", column("id"))\n',
            "it touches payments, a table of payment_service.domain.payments",
        ),
    ],
    "a_transaction_touches_one_connection": [
        Plant(
            f"{ORDERS}/domain/orders/service.py",
            "            order = await find(command.order_id, tx.session)\n",
            "            async with self._database.read() as session:\n"
            "                order = await find(command.order_id, session)\n",
            "Read by tx.session",
        ),
        Plant(
            f"{ORDERS}/domain/orders/service.py",
            "self._database.transaction() as tx:",
            "self._database.transaction() as tx, self._database.read() as session:",
            "by read() while it holds one",
        ),
        Plant(
            f"{BILLING}/domain/invoices/document_delivery.py",
            "            await self._deliveries.mark_mailed(document.id, tx)",
            "            await self._load(document.id)",
            "by _load() while it holds one",
        ),
    ],
    "sql_reads_the_platforms_clock": [
        Plant(
            f"{ORDERS}/domain/orders/order_table.py",
            "orders.c.placed_at < func.platform_now() - unpaid_for",
            "orders.c.placed_at < func.now() - unpaid_for",
            "Use platform_now()",
        ),
        Plant(
            f"{PLATFORM}/idempotency/purge.py",
            "platform_now()",
            "now()",
            "a clock of PostgreSQL's own",
        ),
    ],
    "a_client_is_used_in_its_one_place": [
        at_top(f"{ORDERS}/domain/orders/service.py", "from confluent_kafka import Producer", "Publish by EventBus"),
        at_top(f"{BILLING}/jobs/deliver_invoice.py", "from celery import shared_task", "Declare a JobKind"),
        at_top(f"{BILLING}/jobs/deliver_credit_note.py", "from croniter import croniter", "JOB_TICKS"),
        at_top(QUERIES, "import redis.asyncio as redis", "Keep it in a table"),
        at_top(SERVICE, "import stripe", "CardProvider"),
        at_top(f"{BILLING}/domain/invoices/delivery.py", "import smtplib", "Mailer"),
        at_top(f"{ORDERS}/reactors/mark_paid.py", "import httpx", "its events are read"),
        at_top(QUERIES, "import asyncpg", "Use the session"),
        at_top(SERVICE, "from fastapi import HTTPException", "raise an error of the domain"),
        at_top(SERVICE, "from urllib.request import urlopen", "its events are read"),
        at_top(QUERIES, "from sqlalchemy.ext.asyncio import create_async_engine", "Take the Database"),
        at_top(SERVICE, "from service_platform.outbox import append", "Publish by EventBus.publish"),
    ],
    "only_a_domain_service_tells": [
        Plant(
            ROUTES,
            '        response.headers["Location"]',
            '        await event_bus.publish(OrderPlaced.of(view), tx)\n        response.headers["Location"]',
            "Move it into the domain service's method",
        ),
        Plant(
            REACTOR,
            "        await self._payments.cancel(",
            "        await enqueue_refund_payment(delivery.event.order_id, tx)\n        await self._payments.cancel(",
            "enqueue_refund_payment() outside of a domain service",
        ),
        Plant(
            f"{ORDERS}/domain/orders/order_table.py",
            "class OrderTable:",
            "class OrderTable:\n    async def tell(self, event: Event, tx: Transaction) -> None:\n"
            "        await self._event_bus.publish(event, tx)\n",
            "publish() outside",
        ),
    ],
    "nothing_outside_is_called_in_a_transaction": [
        Plant(
            SERVICE,
            "            payment = await self._payments.start(command.payment_id, tx)\n",
            "            payment = await self._payments.start(command.payment_id, tx)\n"
            "            created = await self._created(payment, command)\n",
            "_created() calls the outside while a transaction is open",
        ),
        Plant(
            f"{BILLING}/domain/invoices/document_delivery.py",
            "            await self._deliveries.mark_mailed(document.id, tx)",
            "            await self._mailer.send(self._letter(document, pdf, intent.message_id))\n"
            "            await self._deliveries.mark_mailed(document.id, tx)",
            "Commit, call, and record the answer",
        ),
    ],
    "queries_write_nothing": [
        Plant(
            QUERIES,
            "self._database.read() as session",
            "self._database.transaction() as tx",
            "transaction() where only",
        ),
        Plant(
            f"{ORDERS}/domain/orders/reading.py",
            "async def find(",
            "async def touch(session: AsyncSession) -> None:\n    await session.execute(update(orders))\n\n\n"
            "async def find(",
            "update() where only reading is done",
        ),
        Plant(
            QUERIES,
            "        return [OrderView.of(order) for order in orders]",
            "        await session.execute(sa.insert(seen).values(at=before))\n"
            "        return [OrderView.of(order) for order in orders]",
            "insert() where only reading is done",
        ),
        Plant(
            QUERIES,
            "        return [OrderView.of(order) for order in orders]",
            "        await session.execute(table.delete())\n        return [OrderView.of(order) for order in orders]",
            "delete() where only reading is done",
        ),
    ],
    "a_claim_comes_first": [
        Plant(SERVICE, "transaction(claim=command.claim)", "transaction()", "transaction(claim=command.claim)"),
        Plant(
            SERVICE,
            "async with self._database.transaction(claim=fence) as tx:",
            "async with self._database.transaction() as tx:",
            "transaction(claim=fence)",
        ),
        Plant(
            f"{ORDERS}/domain/orders/service.py",
            "transaction(claim=command.idempotency)",
            "transaction()",
            "transaction(claim=command.idempotency)",
        ),
    ],
    "a_claim_is_used": [
        Plant(
            f"{BILLING}/domain/invoices/delivery.py",
            "await self._render(command.invoice_id, command.fence)",
            "await self._render(command.invoice_id)",
            "render never uses command.fence",
        ),
    ],
    "nothing_catches_around_a_fenced_write": [
        Plant(
            SERVICE,
            f"{CONCLUDE}\n    async def close",
            f"        try:\n    {CONCLUDE}"
            "        except ClaimRefused:\n"
            '            _log.info("somebody else did it")\n\n    async def close',
            "errors of _conclude() are caught",
        ),
        Plant(
            f"{BILLING}/domain/invoices/document_delivery.py",
            "        async with self._database.transaction(claim=fence) as tx:\n"
            "            await self._deliveries.mark_mailed(document.id, tx)",
            "        with contextlib.suppress(Exception):\n"
            "            async with self._database.transaction(claim=fence) as tx:\n"
            "                await self._deliveries.mark_mailed(document.id, tx)",
            "errors of transaction() are caught",
        ),
        Plant(
            f"{ORDERS}/domain/orders/service.py",
            "            await command.idempotency.answer(view, tx)\n",
            "            try:\n                await command.idempotency.answer(view, tx)\n"
            "            except AlreadyAnswered:\n                return view\n",
            "it catches AlreadyAnswered",
        ),
        Plant(
            SERVICE,
            "    async def _conclude(",
            "    @retry(stop=stop_after_attempt(3))\n    async def _conclude(",
            "_conclude is tried again by a decorator",
        ),
    ],
    "a_run_key_is_the_key_outside": [
        Plant(
            f"{PAYMENTS}/integrations/card_provider.py",
            '{"idempotency_key": str(key), "headers": carrier()}',
            '{"idempotency_key": str(uuid4()), "headers": carrier()}',
            "str(uuid4()) is sent as idempotency key",
        ),
        Plant(
            f"{PAYMENTS}/integrations/payouts.py",
            "",
            "async def pay(http: AsyncClient, payout: Payout) -> None:\n"
            '    await http.post("/payouts", headers={"Idempotency-Key": payout.reference})\n',
            "payout.reference is sent",
        ),
    ],
    "a_claim_keeps_its_type": [
        Plant(STEP, "run_key=run.key(self.name)", "run_key=cast(RunKey, run.key)", "a cast of run.key"),
        Plant(
            STEP, "run_key=run.key(self.name)", 'run_key=cast("RunKey", str(run.job_id))', "a cast of str(run.job_id)"
        ),
        Plant(
            f"{PAYMENTS}/domain/payments/commands.py",
            "    fence: Claim\n    run_key: RunKey\n    payment_id",
            "    fence: Claim\n    run_key: str\n    payment_id",
            "run_key is str here",
        ),
        Plant(
            STEP,
            "run_key=run.key(self.name), refund_id=run.payload.refund_id)",
            "run_key=str(run.job_id), refund_id=run.payload.refund_id)  # type: ignore[arg-type]",
            "an ignored type error beside a claim",
        ),
    ],
}
