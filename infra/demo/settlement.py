"""Waits until every order of a run has reached its end: paid, invoiced and mailed."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from time import monotonic

from demo.clients import Clients
from demo.records import OrderRecord

# A look reads pages of the lists, so the watch rests longer than it looks: it must not slow down what it watches.
_REST_PER_LOOK = 3.0


class StoodStill(Exception):
    """Nothing moved for as long as the watch was willing to wait; the text says what is unfinished."""


class _Awaits(StrEnum):
    """What an order must get next; one that awaits nothing has ended."""

    ANSWER = "paid"
    INVOICE = "invoiced"
    MAIL = "mailed"


class Settlement:
    """Watches the orders with the given ids, with at least `look_every` seconds between two looks.

    What ends otherwise than paid has ended too: judging is not its task.
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
            await self._look_at_invoices()
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
        unseen = {order for order, awaits in self._unfinished.items() if awaits is not _Awaits.MAIL}
        if not unseen:
            return
        async for order in self._clients.orders.orders():
            if order.id in unseen:
                unseen.discard(order.id)
                self._reached(order.id, _next_of(order))
            if not unseen:
                return

    async def _look_at_invoices(self) -> None:
        unseen = {order for order, awaits in self._unfinished.items() if awaits is _Awaits.MAIL}
        if not unseen:
            return
        async for invoice in self._clients.billing.invoices():
            if invoice.order_id in unseen:
                unseen.discard(invoice.order_id)
                if invoice.mailed_at is not None:
                    self._reached(invoice.order_id, None)
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
    if order.status != "paid":
        return None
    return _Awaits.INVOICE if order.invoice_number is None else _Awaits.MAIL
