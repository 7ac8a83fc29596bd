"""Orders as rows. Every change of state is one compare-and-set statement here, and nowhere else.

What payment tells may arrive in any order, since each kind of event has a consumer and retries of its own. So each
statement sets its own part (`paid_at`, `refunded_minor`) and derives the state from all the parts that are known by
then. What cannot be true together matches no row and is refused, in the order in which it comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn
from uuid import UUID

from sqlalchemy import ColumnElement, and_, case, func, literal, literal_column, or_, select, true, update
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.sql.dml import ReturningUpdate

from service_platform.database import Transaction

from .commands import PlaceOrder
from .errors import OrderNotFound, OrderStateConflict, RefundNotPossible
from .models import CancelReason, CancelRequest, Order, OrderStatus, TimelineEntry, TimelineEvent
from .tables import order_lines, order_timeline, orders

_PENDING: Final = orders.c.status == OrderStatus.PENDING_PAYMENT
_PAID: Final = orders.c.status == OrderStatus.PAID
_CANCELLING: Final = orders.c.status == OrderStatus.CANCELLING
_CANCELLED: Final = orders.c.status == OrderStatus.CANCELLED
_UNPAID: Final = orders.c.paid_at.is_(None)
_MONEY_NEVER_MOVED: Final = and_(_UNPAID, orders.c.refunded_minor == 0)
_ALL_REFUNDED: Final = orders.c.refunded_minor == orders.c.total_minor
"""True of a free order from its beginning."""


class OrderTable:
    """The transitions. One that finds another state than it needs changes nothing and says so.

    Each holds the row lock of its orders until `tx` ends. A status that is returned is the one after it.
    """

    async def insert(self, order_id: UUID, command: PlaceOrder, *, total_minor: int, tx: Transaction) -> Order:
        """A new order, pending payment; the beginning of its timeline is the time of the insert."""
        statement = insert(orders).values(
            id=order_id,
            customer_id=command.customer_id,
            customer_email=command.customer_email,
            locale=command.locale,
            status=OrderStatus.PENDING_PAYMENT,
            currency=command.currency,
            total_minor=total_minor,
            payment_method=command.payment_method,
        )
        row = (await tx.session.execute(statement.returning(orders))).mappings().one()
        await tx.session.execute(
            insert(order_lines),
            [
                {"order_id": order_id, "position": position, **asdict(line)}
                for position, line in enumerate(command.lines, start=1)
            ],
        )
        placed = TimelineEntry(at=row["placed_at"], event=TimelineEvent.PLACED, detail={})
        await self.append(order_id, placed, tx)
        return Order(**row, lines=command.lines, timeline=[placed])

    async def request_cancel(self, order_id: UUID, *, customer_id: str, tx: Transaction) -> CancelRequest | None:
        """pending_payment | paid → cancelling; None for an order that is cancelling or cancelled already.

        Raises `OrderNotFound`, also for an order of somebody else, and `OrderStateConflict` for a declined one.
        """
        theirs = (orders.c.id == order_id) & (orders.c.customer_id == customer_id)
        cancelling = _cancelling(CancelReason.CUSTOMER).where(theirs, or_(_PENDING, _PAID))
        row = (await tx.session.execute(cancelling)).one_or_none()
        if row is not None:
            return CancelRequest(**row._mapping)
        status = (await tx.session.execute(select(orders.c.status).where(theirs))).scalar()
        if status is None:
            raise OrderNotFound(order_id=str(order_id))
        if status is OrderStatus.DECLINED:
            raise OrderStateConflict(order_id=str(order_id), state=status, wanted=OrderStatus.CANCELLING)
        return None

    async def expire(self, *, unpaid_for: timedelta, at_most: int, tx: Transaction) -> Sequence[CancelRequest]:
        """pending_payment → cancelling for up to `at_most` orders that were placed longer than `unpaid_for` ago.

        The oldest first. One that somebody else holds at this moment is left to the next call.
        """
        overdue = and_(_PENDING, _MONEY_NEVER_MOVED, orders.c.placed_at < func.platform_now() - unpaid_for)
        oldest = select(orders.c.id).where(overdue).order_by(orders.c.placed_at, orders.c.id).limit(at_most)
        due = oldest.with_for_update(skip_locked=True).cte("due")
        cancelling = _cancelling(CancelReason.EXPIRED).where(orders.c.id == due.c.id)
        return [CancelRequest(**row) for row in (await tx.session.execute(cancelling)).mappings()]

    async def settle(self, order_id: UUID, settled_at: datetime, tx: Transaction) -> OrderStatus:
        """Paid at `settled_at`: pending_payment → paid. One that is cancelling waits for payment's answer to that.

        Raises `OrderNotFound`, and `OrderStateConflict` for an order that was paid, declined, or cancelled without
        a refund of it all.
        """
        expected = and_(_UNPAID, or_(_PENDING, _CANCELLING, _CANCELLED & _ALL_REFUNDED))
        status = case((_PENDING, _status(OrderStatus.PAID)), else_=orders.c.status)
        moved = await self._move(order_id, expected, tx, status=status, paid_at=settled_at)
        return moved or await self._refuse(order_id, OrderStatus.PAID, tx)

    async def decline(self, order_id: UUID, tx: Transaction) -> OrderStatus:
        """No money came: pending_payment → declined, cancelling → cancelled.

        Raises `OrderNotFound`, and `OrderStateConflict` for an order that was paid or declined.
        """
        expected = and_(_MONEY_NEVER_MOVED, or_(_PENDING, _CANCELLING, _CANCELLED))
        status = case((_PENDING, _status(OrderStatus.DECLINED)), else_=_status(OrderStatus.CANCELLED))
        moved = await self._move(order_id, expected, tx, status=status)
        return moved or await self._refuse(order_id, OrderStatus.DECLINED, tx)

    async def cancel(self, order_id: UUID, tx: Transaction) -> OrderStatus:
        """No money will be kept: cancelling → cancelled.

        Raises `OrderNotFound`, and `OrderStateConflict` for an order that nobody wanted to cancel, or that keeps
        money as far as is known: then its refund has to come first.
        """
        expected = and_(or_(_MONEY_NEVER_MOVED, _ALL_REFUNDED), or_(_CANCELLING, _CANCELLED))
        moved = await self._move(order_id, expected, tx, status=OrderStatus.CANCELLED)
        return moved or await self._refuse(order_id, OrderStatus.CANCELLED, tx)

    async def refund(self, order_id: UUID, amount_minor: int, currency: str, tx: Transaction) -> OrderStatus:
        """So much was given back, in minor units; the last of it makes cancelling → cancelled.

        Raises `OrderNotFound`, and `RefundNotPossible` for a declined order, another currency, and for more than the
        order cost.
        """
        refunded_minor = orders.c.refunded_minor + amount_minor
        possible = and_(
            orders.c.status != OrderStatus.DECLINED,
            orders.c.currency == currency,
            refunded_minor <= orders.c.total_minor,
        )
        all_of_it = _CANCELLING & (refunded_minor == orders.c.total_minor)
        status = case((all_of_it, _status(OrderStatus.CANCELLED)), else_=orders.c.status)
        moved = await self._move(order_id, possible, tx, status=status, refunded_minor=refunded_minor)
        if moved is None:
            state = await self._state(order_id, tx)
            raise RefundNotPossible(
                order_id=str(order_id), state=state, amount_minor=amount_minor, refund_currency=currency
            )
        return moved

    async def keep_invoice_number(self, order_id: UUID, invoice_number: str, tx: Transaction) -> None:
        """Make it the order's invoice number, whatever state the order is in. Raises `OrderNotFound`."""
        if await self._move(order_id, true(), tx, invoice_number=invoice_number) is None:
            raise OrderNotFound(order_id=str(order_id))

    async def add_credit_note_number(self, order_id: UUID, number: str, tx: Transaction) -> None:
        """Add it to the order's credit notes, whatever state the order is in. Raises `OrderNotFound`."""
        numbers = func.array_append(orders.c.credit_note_numbers, number)
        if await self._move(order_id, true(), tx, credit_note_numbers=numbers) is None:
            raise OrderNotFound(order_id=str(order_id))

    async def append(self, order_id: UUID, entry: TimelineEntry, tx: Transaction) -> None:
        """Add to the order's timeline. An order is cancelled once, so only the first such entry is kept."""
        await tx.session.execute(_telling().values(order_id=order_id, **asdict(entry)))

    async def append_all(self, entries: Mapping[UUID, TimelineEntry], tx: Transaction) -> None:
        """Add to the timelines of several orders, one entry each."""
        if entries:
            rows = [{"order_id": order_id, **asdict(entry)} for order_id, entry in entries.items()]
            await tx.session.execute(_telling(), rows)

    async def _move(
        self, order_id: UUID, expected: ColumnElement[bool], tx: Transaction, **values: Any
    ) -> OrderStatus | None:
        statement = update(orders).where(orders.c.id == order_id, expected).values(**values)
        moved: OrderStatus | None = (await tx.session.execute(statement.returning(orders.c.status))).scalar()
        return moved

    async def _refuse(self, order_id: UUID, wanted: OrderStatus, tx: Transaction) -> NoReturn:
        state = await self._state(order_id, tx)
        raise OrderStateConflict(order_id=str(order_id), state=state, wanted=wanted)

    async def _state(self, order_id: UUID, tx: Transaction) -> OrderStatus:
        query = select(orders.c.status).where(orders.c.id == order_id)
        status: OrderStatus | None = (await tx.session.execute(query)).scalar()
        if status is None:
            raise OrderNotFound(order_id=str(order_id))
        return status


def _cancelling(reason: CancelReason) -> ReturningUpdate[Any]:
    requested = {
        "status": OrderStatus.CANCELLING,
        "cancel_reason": reason,
        "cancel_requested_at": func.platform_now(),
    }
    return (
        update(orders)
        .values(requested)
        .returning(
            orders.c.id.label("order_id"),
            orders.c.cancel_reason.label("reason"),
            orders.c.cancel_requested_at.label("requested_at"),
        )
    )


def _status(status: OrderStatus) -> ColumnElement[OrderStatus]:
    return literal(status, orders.c.status.type)


def _telling() -> Insert:
    return insert(order_timeline).on_conflict_do_nothing(
        index_elements=[order_timeline.c.order_id],
        index_where=order_timeline.c.event == literal_column("'order.cancelled'"),
    )
