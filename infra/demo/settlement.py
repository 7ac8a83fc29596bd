"""Waits until every order of a run has reached its end: paid, invoiced and mailed, or given back and credited."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from enum import StrEnum
from time import monotonic

from demo.clients import Clients
from demo.records import CreditNoteRecord, InvoiceRecord, OrderRecord

# A look reads pages of the lists, so the watch rests longer than it looks: it must not slow down what it watches.
_REST_PER_LOOK = 3.0


class StoodStill(Exception):
    """Nothing moved for as long as the watch was willing to wait; the text says what is unfinished."""


class _Awaits(StrEnum):
    """What an order must get next; one that awaits nothing has ended."""

    ANSWER = "paid, declined or cancelled"
    INVOICE = "invoiced"
    CREDIT = "invoiced and credited"
    CREDIT_MAIL = "mailed of its credit note"
    MAIL = "mailed"


_ON_THE_ORDER = (_Awaits.ANSWER, _Awaits.INVOICE, _Awaits.CREDIT)


class Settlement:
    """Watches the orders with the given ids, with at least `look_every` seconds between two looks.

    What ends otherwise than paid has ended too: judging is not its task. A cancelled order of which money was given
    back has ended when its credit note and its invoice are mailed.
    """

    def __init__(self, clients: Clients, order_ids: Iterable[str], *, look_every: float) -> None:
        self._clients = clients
        self._look_every = look_every
        self._unfinished = dict.fromkeys(order_ids, _Awaits.ANSWER)

    async def wait(self, *, standstill: float, report: Callable[[int, int], None]) -> None:
        """Returns when all have ended; `report` is told after each look how many of how many have.

        Raises:
            StoodStill: no order got any further for `standstill` seconds.
            Refused, Unanswered: an API did not give its list.
        """
        total = len(self._unfinished)
        before, moved_at = dict(self._unfinished), monotonic()
        while True:
            looked_at = monotonic()
            await self._look_at_orders()
            await self._look_at(self._clients.billing.credit_notes, _Awaits.CREDIT_MAIL, then=_Awaits.MAIL)
            await self._look_at(self._clients.billing.invoices, _Awaits.MAIL, then=None)
            now = monotonic()
            report(total - len(self._unfinished), total)
            if not self._unfinished:
                return
            if self._unfinished != before:
                before, moved_at = dict(self._unfinished), now
            elif now - moved_at > standstill:
                raise StoodStill(f"nothing moved for {standstill:g} s: {self._explain()}")
            await asyncio.sleep(max(self._look_every, _REST_PER_LOOK * (now - looked_at)))

    async def _look_at_orders(self) -> None:
        """Reads the list only as far as something unfinished may still stand in it."""
        unseen = {order for order, awaits in self._unfinished.items() if awaits in _ON_THE_ORDER}
        if not unseen:
            return
        async for order in self._clients.orders.orders():
            if order.id in unseen:
                unseen.discard(order.id)
                self._reached(order.id, _next_of(order))
            if not unseen:
                return

    async def _look_at(
        self,
        documents: Callable[[], AsyncIterator[InvoiceRecord] | AsyncIterator[CreditNoteRecord]],
        awaited: _Awaits,
        *,
        then: _Awaits | None,
    ) -> None:
        unseen = {order for order, awaits in self._unfinished.items() if awaits is awaited}
        if not unseen:
            return
        async for document in documents():
            if document.order_id in unseen:
                unseen.discard(document.order_id)
                if document.mailed_at is not None:
                    self._reached(document.order_id, then)
            if not unseen:
                return

    def _reached(self, order_id: str, awaits: _Awaits | None) -> None:
        if awaits is None:
            del self._unfinished[order_id]
        else:
            self._unfinished[order_id] = awaits

    def _explain(self) -> str:
        counts = Counter(self._unfinished.values())
        return "; ".join(
            f"{counts[awaits]} not {awaits} ({self._first(awaits)})" for awaits in _Awaits if counts[awaits]
        )

    def _first(self, awaited: _Awaits) -> str:
        orders = [order for order, awaits in self._unfinished.items() if awaits is awaited]
        return f"orders {', '.join(orders[:5])}{', …' if len(orders) > 5 else ''}"


def _next_of(order: OrderRecord) -> _Awaits | None:
    if order.status in ("pending_payment", "cancelling"):
        return _Awaits.ANSWER
    if order.status == "cancelled" and order.refunded_minor:
        return _Awaits.CREDIT_MAIL if order.invoice_number and order.credit_note_numbers else _Awaits.CREDIT
    if order.status != "paid":
        return None
    return _Awaits.INVOICE if order.invoice_number is None else _Awaits.MAIL
