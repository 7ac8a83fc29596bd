"""Customers who place the real purchases at an even rate for a while, whatever happens to the shop meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from itertools import count
from time import monotonic
from typing import Any, TypeVar

from demo.clients import Clients
from demo.patience import Refused
from demo.purchases import Purchase
from demo.records import Answer
from demo.run import Run

ItemT = TypeVar("ItemT")


async def shop(
    clients: Clients, run: Run, purchases: Sequence[Purchase], *, seconds: float, a_second: float
) -> tuple[list[Purchase], list[Answer]]:
    """Place `a_second` purchases each second for so many seconds; who gets no answer asks again, the same.

    What was asked for, in the file's order, and what was answered. Ends early when the file does.

    Raises:
        Unanswered: the order API gave no usable answer for as long as the clients' patience.
    """
    placed: list[Purchase] = []
    answers: list[Answer] = []

    async def buy(purchase: Purchase) -> None:
        placed.append(purchase)
        answers.append(await place(clients, run, purchase, run.order_body(purchase)))

    await evenly(purchases, buy, seconds=seconds, a_second=a_second)
    return placed, answers


async def place(clients: Clients, run: Run, purchase: Purchase, body: dict[str, Any]) -> Answer:
    """Place the purchase as `body` says. Raises `Unanswered`; a refusal is an answer."""
    posted_at = datetime.now(UTC)
    try:
        view = await clients.orders.place(run.customer_id(purchase), body, run.idempotency_key(purchase))
    except Refused as refused:
        return Answer(purchase.line, posted_at, None, str(refused))
    return Answer(purchase.line, posted_at, view["id"])


async def evenly(
    items: Iterable[ItemT], act: Callable[[ItemT], Coroutine[Any, Any, None]], *, seconds: float, a_second: float
) -> None:
    """Begin to act on `a_second` items each second for so many seconds, and wait until all is done."""
    begun_at = monotonic()
    async with asyncio.TaskGroup() as customers:
        for number, item in zip(count(), items, strict=False):
            turn = number / a_second
            if turn > seconds:
                break
            await asyncio.sleep(max(0.0, begun_at + turn - monotonic()))
            customers.create_task(act(item))
