"""Right code that looks a little like a breach: by the rule that must let it pass."""

from __future__ import annotations

from architecture.tests.planting import BILLING, ORDERS, PAYMENTS, Plant
from architecture.tests.shape_plants import QUERIES, REACTOR, ROUTES

RIGHT_PLANTS: dict[str, list[Plant]] = {
    "only_a_domain_service_tells": [
        Plant(
            ROUTES,
            "    return router\n",
            '    @router.post("/{order_id}/publish", status_code=202)\n'
            "    async def publish_order(order_id: UUID) -> OrderView:\n"
            "        return await service.publish(PublishOrder(order_id=order_id))\n\n    return router\n",
            "a use case whose name is publish",
        ),
    ],
    "queries_write_nothing": [
        Plant(
            QUERIES,
            "        return [OrderView.of(order) for order in orders]",
            "        counts: Counter[str] = Counter()\n        counts.update(order.currency for order in orders)\n"
            "        return [OrderView.of(order) for order in orders]",
            "a collection that is updated",
        ),
    ],
    "nothing_outside_is_called_in_a_transaction": [
        Plant(
            f"{BILLING}/domain/payouts/service.py",
            "",
            "class Numbers(Protocol):\n    async def draw(self, series: str, tx: Transaction) -> int: ...\n\n\n"
            "class PayoutService:\n    def __init__(self, database: Database, numbers: Numbers) -> None:\n"
            "        self._numbers = numbers\n\n    async def issue(self, command: IssuePayout) -> None:\n"
            "        async with self._database.transaction(claim=command.claim) as tx:\n"
            '            await self._numbers.draw("payout", tx)\n',
            "a part of the transaction behind a Protocol",
        ),
    ],
    "a_claim_is_used": [
        Plant(
            f"{ORDERS}/domain/orders/service.py",
            "class OrderService:",
            "def entry_of(command: RecordRefund) -> TimelineEntry:\n"
            "    return TimelineEntry(at=command.refunded_at, event=TimelineEvent.REFUNDED, detail={})\n\n\n"
            "class OrderService:",
            "a plain function that translates a command",
        ),
    ],
    "a_run_key_is_the_key_outside": [
        Plant(
            f"{PAYMENTS}/integrations/payouts.py",
            "",
            "async def pay(http: AsyncClient, key: RunKey) -> None:\n    idempotency_key = str(key)\n"
            '    await http.post("/payouts", headers={"Idempotency-Key": idempotency_key})\n',
            "the key by a name of its own",
        ),
    ],
    "a_consumer_makes_one_call_with_its_claim": [
        Plant(
            REACTOR,
            "CancelPayment(claim=delivery.claim, order_id=delivery.event.order_id)",
            "delivery.claim, delivery.event.order_id",
            "the claim by place",
        ),
        Plant(
            f"{PAYMENTS}/reactors/note_refund.py",
            "",
            "class NoteRefundOnOrderReturned(Consumer[OrderReturned]):\n"
            "    async def handle(self, delivery: Delivery[OrderReturned]) -> None:\n"
            "        await self._payments.note(_command(delivery))\n\n\n"
            "def _command(delivery: Delivery[OrderReturned]) -> NoteRefund:\n"
            "    return NoteRefund(claim=delivery.claim, order_id=delivery.event.order_id)\n",
            "the command from a function beside it",
        ),
    ],
    "a_creating_post_claims_its_key": [
        Plant(
            f"{ORDERS}/api/copies.py",
            "",
            'Once = Annotated[IdempotencyClaim, idempotency("copy_order")]\n\n\n'
            "def copies_router(service: OrderService) -> APIRouter:\n    router = APIRouter()\n\n"
            '    @router.post("", status_code=201)\n    async def copy_order(claim: Once) -> OrderView:\n'
            "        return await service.copy(CopyOrder(idempotency=claim))\n\n    return router\n",
            "the claim by an alias",
        ),
    ],
    "doors_are_thin": [
        Plant(
            ROUTES,
            "    return router\n",
            '    @router.post("/{order_id}/read", status_code=204)\n'
            "    async def read_order(order_id: UUID) -> None:\n"
            "        await service.read(ReadOrder(order_id=order_id))\n\n    return router\n",
            "a use case whose name is read",
        ),
    ],
    "a_background_task_has_an_owner": [
        Plant(
            f"{ORDERS}/domain/talks/service.py",
            "",
            "from .thread_table import Thread\n\n\nclass TalkService:\n"
            "    async def open(self, command: OpenTalk) -> None:\n"
            "        async with self._database.transaction(claim=command.claim) as tx:\n"
            "            await self._talks.add(Thread(topic=command.topic), tx)\n",
            "a word of the domain",
        ),
    ],
}
