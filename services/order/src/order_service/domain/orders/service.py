"""The use cases of orders. Each is one transaction, which begins with the command's claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid4

from order_service.events import OrderCancelRequested, OrderPlaced, OrderPlacedLine
from service_platform.database import Database, Transaction
from service_platform.event_bus import EventBus

from .commands import (
    CancelOrder,
    ExpireUnpaidOrders,
    MarkCancelled,
    MarkDeclined,
    MarkPaid,
    PlaceOrder,
    RecordCreditNote,
    RecordInvoice,
    RecordRefund,
)
from .models import CancelRequest, Order, OrderStatus, TimelineEntry, TimelineEvent, total_of
from .order_table import OrderTable
from .reading import find
from .views import OrderView

_BATCH: Final = 100
_MOST_BATCHES: Final = 100
"""Far more than what comes due between two ticks; what is left then, the next tick finds."""


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

    async def cancel(self, command: CancelOrder) -> OrderView:
        """pending_payment | paid → cancelling, and `order.cancel_requested` for it: the order as it is then.

        An order that is cancelling or cancelled already is shown as it is, and nothing is published.
        Raises `OrderNotFound`, also for an order of somebody else, and `OrderStateConflict` for a declined one.
        """
        async with self._database.transaction() as tx:
            request = await self._orders.request_cancel(command.order_id, customer_id=command.customer_id, tx=tx)
            if request is not None:
                await self._tell_of_cancel([request], tx)
            order = await find(command.order_id, tx.session)
        assert order is not None  # its row is locked, or it was found a moment ago
        return OrderView.of(order)

    async def expire(self, command: ExpireUnpaidOrders) -> int:
        """Cancel the orders whose time to pay is over, in transactions of a bounded number each; how many there were.

        pending_payment → cancelling and `order.cancel_requested` for each. An order that is being paid for at this
        moment is decided by whoever has its row first.
        """
        expired = 0
        for _ in range(_MOST_BATCHES):
            async with self._database.transaction(claim=command.fence) as tx:
                requests = await self._orders.expire(unpaid_for=command.unpaid_for, at_most=_BATCH, tx=tx)
                await self._tell_of_cancel(requests, tx)
            expired += len(requests)
            if len(requests) < _BATCH:
                break
        return expired

    async def _tell_of_cancel(self, requests: Sequence[CancelRequest], tx: Transaction) -> None:
        entries = {
            request.order_id: TimelineEntry(
                at=request.requested_at, event=TimelineEvent.CANCEL_REQUESTED, detail={"reason": request.reason}
            )
            for request in requests
        }
        await self._orders.append_all(entries, tx)
        for request in requests:
            event = OrderCancelRequested.create(
                order_id=request.order_id, reason=request.reason.value, requested_at=request.requested_at
            )
            await self._event_bus.publish(event, tx)

    async def mark_paid(self, command: MarkPaid) -> None:
        """The payment settled: pending_payment → paid, unless a cancel came first. See `OrderTable.settle`."""
        entry = TimelineEntry(
            at=command.settled_at, event=TimelineEvent.SETTLED, detail={"payment_id": str(command.payment_id)}
        )
        async with self._database.transaction(claim=command.claim) as tx:
            status = await self._orders.settle(command.order_id, command.settled_at, tx)
            await self._note(command.order_id, entry, status, tx)

    async def mark_declined(self, command: MarkDeclined) -> None:
        """The payment was declined: pending_payment → declined, cancelling → cancelled. See `OrderTable.decline`."""
        entry = TimelineEntry(
            at=command.declined_at,
            event=TimelineEvent.DECLINED,
            detail={"payment_id": str(command.payment_id), "reason": command.reason},
        )
        async with self._database.transaction(claim=command.claim) as tx:
            status = await self._orders.decline(command.order_id, tx)
            await self._note(command.order_id, entry, status, tx)

    async def mark_cancelled(self, command: MarkCancelled) -> None:
        """The payment was cancelled: cancelling → cancelled. See `OrderTable.cancel`."""
        entry = TimelineEntry(
            at=command.cancelled_at,
            event=TimelineEvent.PAYMENT_CANCELLED,
            detail={"payment_id": str(command.payment_id)},
        )
        async with self._database.transaction(claim=command.claim) as tx:
            status = await self._orders.cancel(command.order_id, tx)
            await self._note(command.order_id, entry, status, tx)

    async def record_refund(self, command: RecordRefund) -> None:
        """Money was given back; the last of it makes cancelling → cancelled. See `OrderTable.refund`."""
        entry = TimelineEntry(
            at=command.refunded_at,
            event=TimelineEvent.REFUNDED,
            detail={
                "refund_id": str(command.refund_id),
                "amount_minor": str(command.amount_minor),
                "currency": command.currency,
            },
        )
        async with self._database.transaction(claim=command.claim) as tx:
            status = await self._orders.refund(command.order_id, command.amount_minor, command.currency, tx)
            await self._note(command.order_id, entry, status, tx)

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

    async def record_credit_note(self, command: RecordCreditNote) -> None:
        """Keep the number of a credit note; it may come before its refund, or its invoice. Raises `OrderNotFound`."""
        entry = TimelineEntry(
            at=command.issued_at,
            event=TimelineEvent.CREDITED,
            detail={
                "credit_note_id": str(command.credit_note_id),
                "credit_note_number": command.credit_note_number,
                "refund_id": str(command.refund_id),
            },
        )
        async with self._database.transaction(claim=command.claim) as tx:
            await self._orders.add_credit_note_number(command.order_id, command.credit_note_number, tx)
            await self._orders.append(command.order_id, entry, tx)

    async def _note(self, order_id: UUID, entry: TimelineEntry, status: OrderStatus, tx: Transaction) -> None:
        """What happened to the order; and its end, if that has come."""
        await self._orders.append(order_id, entry, tx)
        if status is OrderStatus.CANCELLED:
            end = TimelineEntry(at=entry.at, event=TimelineEvent.CANCELLED, detail={})
            await self._orders.append(order_id, end, tx)
