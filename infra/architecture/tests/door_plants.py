"""Violations of the rules for doors and tasks: by rule, as somebody who copies the suite would make them."""

from __future__ import annotations

from architecture.tests.planting import BILLING, ORDERS, PAYMENTS, PLATFORM, Plant, at_top
from architecture.tests.shape_plants import REACTOR, ROUTES, STEP

DOOR_PLANTS: dict[str, list[Plant]] = {
    "doors_are_thin": [
        at_top(ROUTES, "from sqlalchemy import select", "a door imports select"),
        at_top(REACTOR, "from service_platform.database import Database", "a door imports Database"),
        Plant(
            ROUTES,
            "        return await orders.get(order_id, customer_id=_whose(reader))",
            "        try:\n            return await orders.get(order_id, customer_id=_whose(reader))\n"
            "        except OrderNotFound:\n            return await orders.get(order_id, customer_id=None)",
            "get_order decides or does more than one thing",
        ),
        Plant(
            f"{ORDERS}/jobs/expire_orders.py",
            "        await self._orders.expire(",
            "        for _ in range(10):\n            await self._orders.expire(",
            "run decides",
        ),
        Plant(
            f"{ORDERS}/reactors/mark_paid.py",
            "        await self._orders.mark_paid(",
            "        if settled.amount_minor < 100:\n            return\n        await self._orders.mark_paid(",
            "handle decides",
        ),
        Plant(
            f"{ORDERS}/reactors/mark_paid.py",
            "        await self._orders.mark_paid(",
            "        await asyncio.gather(self._orders.note(settled), self._orders.mark_paid(settled))\n"
            "        await self._orders.mark_paid(",
            "handle decides or does more than one thing",
        ),
        Plant(
            ROUTES,
            "    return router\n",
            '    @router.get("/export")\n    def export() -> list[str]:\n'
            "        return [order.id for order in orders.scalars()]\n\n    return router\n",
            "export decides or does more than one thing",
        ),
    ],
    "a_consumer_makes_one_call_with_its_claim": [
        Plant(REACTOR, "claim=delivery.claim, ", "", "Give the command `claim=delivery.claim`"),
        Plant(
            f"{ORDERS}/reactors/mark_paid.py",
            "        await self._orders.mark_paid(",
            "        await self._orders.get(delivery.event.order_id)\n        await self._orders.mark_paid(",
            "makes 2 calls",
        ),
    ],
    "a_step_makes_one_call_with_its_fence": [
        Plant(STEP, "fence=run.fence(self.name), ", "", "Give the command `fence=run.fence(self.name)`"),
        Plant(
            STEP,
            "        await self._refunds.send(",
            "        await self._provider.ping()\n        await self._refunds.send(",
            "SendRefundStep makes 2 calls",
        ),
    ],
    "jobs_are_processors_and_steps": [
        Plant(
            f"{BILLING}/jobs/send_reminder.py",
            "",
            "class SendReminder:\n    async def process(self, job_id: str) -> None: ...\n",
            "SendReminder is neither a FencedProcessor nor a Step",
        ),
    ],
    "a_background_task_has_an_owner": [
        Plant(
            f"{ORDERS}/domain/orders/service.py",
            "        return view\n",
            "        self._task = asyncio.create_task(self._remind(view))\n        return view\n",
            "What must happen is a job",
        ),
        Plant(
            f"{ORDERS}/domain/orders/service.py",
            "        return view\n",
            "        loop.call_at(loop.time() + 5, self._remind, view)\n        return view\n",
            "call_at() starts",
        ),
        Plant(
            f"{PLATFORM}/ticks/metrics.py", "", "from threading import Timer\n\nTimer(60, print).start()\n", "Timer()"
        ),
    ],
    "facts_go_through_the_outbox": [
        at_top(ROUTES, "from fastapi import BackgroundTasks", "a crash forgets it"),
        at_top(
            f"{PAYMENTS}/domain/payments/payment_table.py",
            "from sqlalchemy import event",
            "a rollback does not take it",
        ),
        at_top(f"{ORDERS}/domain/orders/service.py", "from blinker import signal", "in this process only"),
        Plant(ROUTES, "        response: Response,", "        tasks: fastapi.BackgroundTasks,", "it uses fastapi.Back"),
        Plant(
            f"{ORDERS}/domain/orders/order_table.py",
            "class OrderTable:",
            '@sa.event.listens_for(orders, "after_create")\ndef _tell(*_: object) -> None: ...\n\n\nclass OrderTable:',
            "it uses sa.event.listens_for",
        ),
    ],
    "a_creating_post_claims_its_key": [
        Plant(
            ROUTES,
            '        claim: Annotated[IdempotencyClaim, idempotency("place_order", location="/orders/{id}")],\n',
            "",
            "place_order creates something again",
        ),
        Plant(
            ROUTES,
            "    return router\n",
            '    @router.post("/copies", status_code=status.HTTP_201_CREATED)\n'
            "    async def copy_order(body: CopyBody) -> OrderView:\n"
            "        return await service.copy(body.command())\n\n    return router\n",
            "copy_order creates something again",
        ),
    ],
    "a_door_stands_in_its_folder": [
        Plant(
            f"{ORDERS}/domain/orders/listener.py",
            "",
            "class CountPaid(Consumer[PaymentSettled]):\n    async def handle(self, delivery: object) -> None: ...\n",
            "CountPaid is a Consumer outside of reactors/",
        ),
        Plant(
            f"{BILLING}/domain/invoices/remind.py",
            "",
            "class RemindStep(Step[RemindPayload]):\n    async def run(self, run: object) -> None: ...\n",
            "RemindStep is a Step outside of jobs/",
        ),
    ],
}
