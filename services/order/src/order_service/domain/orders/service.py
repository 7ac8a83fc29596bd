"""The use cases of orders. Each is one transaction, which begins with the command's claim."""

from __future__ import annotations

from uuid import uuid4

from order_service.events import OrderPlaced, OrderPlacedLine
from service_platform.database import Database, Transaction
from service_platform.event_bus import EventBus

from .commands import MarkDeclined, MarkPaid, PlaceOrder, RecordInvoice
from .models import Order, OrderStatus, TimelineEntry, TimelineEvent, total_of
from .table import OrderTable
from .views import OrderView


class OrderService:
    """Places orders, and follows what payment and billing tell about them."""

    def __init__(self, database: Database, orders: OrderTable, event_bus: EventBus) -> None:
        self._database = database
        self._orders = orders
        self._event_bus = event_bus

    async def place(self, command: PlaceOrder) -> OrderView:
        """A new order, pending payment, and `order.placed` for it.

        Raises `UnknownCurrency`, `TotalTooLarge`, and what the idempotency claim raises for a key that was used.
        """
        total_minor = total_of(command.lines, command.currency)
        async with self._database.transaction(claim=command.idempotency) as tx:
            order = await self._orders.insert(uuid4(), command, total_minor=total_minor, tx=tx)
            await self._tell(order, tx)
            view = OrderView.of(order)
            await command.idempotency.answer(view, tx)
        return view

    async def _tell(self, order: Order, tx: Transaction) -> None:
        placed = OrderPlaced.create(
            order_id=order.id,
            customer_id=order.customer_id,
            customer_email=order.customer_email,
            locale=order.locale,
            currency=order.currency,
            total_minor=order.total_minor,
            payment_method=order.payment_method,
            lines=[OrderPlacedLine.model_validate(line) for line in order.lines],
            placed_at=order.placed_at,
        )
        await self._event_bus.publish(placed, tx)

    async def mark_paid(self, command: MarkPaid) -> None:
        """pending_payment → paid. Raises `OrderNotFound`, `OrderStateConflict`."""
        entry = TimelineEntry(
            at=command.settled_at, event=TimelineEvent.SETTLED, detail={"payment_id": str(command.payment_id)}
        )
        async with self._database.transaction(claim=command.claim) as tx:
            await self._orders.conclude(command.order_id, OrderStatus.PAID, tx)
            await self._orders.append(command.order_id, entry, tx)

    async def mark_declined(self, command: MarkDeclined) -> None:
        """pending_payment → declined. Raises `OrderNotFound`, `OrderStateConflict`."""
        entry = TimelineEntry(
            at=command.declined_at,
            event=TimelineEvent.DECLINED,
            detail={"payment_id": str(command.payment_id), "reason": command.reason},
        )
        async with self._database.transaction(claim=command.claim) as tx:
            await self._orders.conclude(command.order_id, OrderStatus.DECLINED, tx)
            await self._orders.append(command.order_id, entry, tx)

    async def record_invoice(self, command: RecordInvoice) -> None:
        """Keep the number of the order's invoice. Raises `OrderNotFound`.

        Payment and billing tell on topics of their own, so this may come before `mark_paid`: each sets its part only.
        """
        entry = TimelineEntry(
            at=command.issued_at,
            event=TimelineEvent.INVOICED,
            detail={"invoice_id": str(command.invoice_id), "invoice_number": command.invoice_number},
        )
        async with self._database.transaction(claim=command.claim) as tx:
            await self._orders.keep_invoice_number(command.order_id, command.invoice_number, tx)
            await self._orders.append(command.order_id, entry, tx)
