"""Customers who change their mind: each places a real purchase and cancels it a moment later, some with a bad card."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from demo.clients import Clients
from demo.patience import Refused
from demo.purchases import Purchase
from demo.records import Answer
from demo.run import PAYMENT_METHOD, Run
from world.story import CARD_THAT_IS_DECLINED

from .shopping import evenly, place

_SOONER_OR_LATER = ((0.0, 0.2), (0.2, 2.0), (4.0, 10.0))
"""Seconds until the cancel: before, while and after an order is paid, as long as nothing holds it up."""
_DECLINED_ONE_IN = 4
_FREE_ONE_IN = 10


@dataclass(frozen=True)
class Wish:
    """What one of them is going to do: buy with this card, and cancel so many seconds after the order is placed."""

    purchase: Purchase
    card: str
    cancel_after: float


@dataclass(frozen=True)
class Regret:
    """What one of them did and was told.

    `refused_as` is the state by which the order API refused to cancel, or else all that it said; None where it agreed.
    """

    purchase: Purchase
    card_pays: bool
    placed: Answer
    refused_as: str | None = None


def wishes(seed: int, purchases: Sequence[Purchase]) -> Iterator[Wish]:
    """Purchases in an order of the seed's, each once; the few free ones, paid in a way of their own, come early."""
    dice = random.Random(seed)
    free = [purchase for purchase in purchases if not purchase.cents]
    others = [purchase for purchase in purchases if purchase.cents]
    dice.shuffle(free)
    dice.shuffle(others)
    for number in range(len(purchases)):
        purchase = free.pop() if not others or (free and number % _FREE_ONE_IN == _FREE_ONE_IN - 1) else others.pop()
        declined = purchase.cents and dice.randrange(_DECLINED_ONE_IN) == 0
        yield Wish(
            purchase,
            CARD_THAT_IS_DECLINED if declined else PAYMENT_METHOD,
            dice.uniform(*dice.choice(_SOONER_OR_LATER)),
        )


async def regret(
    clients: Clients, run: Run, wanted: Iterator[Wish], *, seconds: float, a_second: float
) -> list[Regret]:
    """Place `a_second` orders each second for so many seconds and cancel each; who gets no answer asks again, the same.

    Raises:
        Unanswered: the order API gave no usable answer for as long as the clients' patience.
    """
    regrets: list[Regret] = []

    async def change_mind(wish: Wish) -> None:
        purchase = wish.purchase
        placed = await place(clients, run, purchase, run.order_body(purchase) | {"payment_method": wish.card})
        refused_as = None
        if placed.order_id is not None:
            await asyncio.sleep(wish.cancel_after)
            try:
                await clients.orders.cancel(run.customer_id(purchase), placed.order_id)
            except Refused as refused:
                refused_as = _state_in(refused)
        regrets.append(Regret(purchase, wish.card == PAYMENT_METHOD, placed, refused_as))

    await evenly(wanted, change_mind, seconds=seconds, a_second=a_second)
    return regrets


def _state_in(refused: Refused) -> str:
    try:
        return str(json.loads(refused.body)["state"])
    except (ValueError, KeyError, TypeError):
        return str(refused)
