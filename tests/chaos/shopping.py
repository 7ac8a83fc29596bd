"""Customers who place the real purchases at an even rate for a while, whatever happens to the shop meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from time import monotonic

from demo.clients import Clients
from demo.patience import Refused
from demo.purchases import Purchase
from demo.records import Answer
from demo.run import Run


async def shop(
    clients: Clients, run: Run, purchases: Sequence[Purchase], *, seconds: float, a_second: float
) -> tuple[list[Purchase], list[Answer]]:
    """Place `a_second` purchases each second for so many seconds; who gets no answer asks again, the same.

    What was asked for, in the file's order, and what was answered. Ends early when the file does.

    Raises:
        Unanswered: the order API gave no usable answer for as long as the clients' patience.
    """
    begun_at = monotonic()
    placed: list[Purchase] = []
    answers: list[Answer] = []

    async def place(purchase: Purchase) -> None:
        posted_at = datetime.now(UTC)
        order_id, refusal = None, None
        try:
            view = await clients.orders.place(
                run.customer_id(purchase), run.order_body(purchase), run.idempotency_key(purchase)
            )
            order_id = view["id"]
        except Refused as refused:
            refusal = str(refused)
        answers.append(Answer(purchase.line, posted_at, order_id, refusal))

    async with asyncio.TaskGroup() as customers:
        for number, purchase in zip(count(), purchases, strict=False):
            turn = number / a_second
            if turn > seconds:
                break
            await asyncio.sleep(max(0.0, begun_at + turn - monotonic()))
            placed.append(purchase)
            customers.create_task(place(purchase))
    return placed, answers
