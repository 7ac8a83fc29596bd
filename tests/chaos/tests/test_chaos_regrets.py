"""Customers who change their mind: the seed decides who does what, and each is told the truth."""

from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from typing import Any, cast

import httpx

from chaos.regrets import Wish, regret, wishes
from demo.clients import Clients
from demo.patience import Refused
from demo.purchases import read_purchases
from demo.run import PAYMENT_METHOD, Run
from world.story import CARD_THAT_IS_DECLINED

FILE = read_purchases()


def test_a_seed_gives_the_same_wishes_and_another_seed_others() -> None:
    assert list(wishes(7, FILE[:300])) == list(wishes(7, FILE[:300]))
    assert list(wishes(7, FILE[:300])) != list(wishes(8, FILE[:300]))


def test_every_purchase_is_wished_for_once_and_the_rare_free_ones_come_early() -> None:
    wanted = list(wishes(7, FILE))

    assert Counter(wish.purchase for wish in wanted) == Counter(FILE)
    assert [wish.purchase.cents for wish in wanted[:80]].count(0) == 8


def test_cards_that_are_declined_and_cancels_soon_and_late_all_come_within_a_minute() -> None:
    wanted = list(islice(wishes(7, FILE), 30))

    assert {wish.card for wish in wanted} == {PAYMENT_METHOD, CARD_THAT_IS_DECLINED}
    assert min(wish.cancel_after for wish in wanted) < 0.2
    assert max(wish.cancel_after for wish in wanted) > 4
    assert any(0.2 < wish.cancel_after < 2 for wish in wanted)


def test_a_free_order_never_has_a_card_that_is_declined() -> None:
    assert {wish.card for wish in wishes(7, FILE) if not wish.purchase.cents} == {PAYMENT_METHOD}


class FakeOrders:
    """An order API that refuses to place the second order, and to cancel the first one for this reason."""

    def __init__(self, refusal: str) -> None:
        self._refusal = refusal
        self.placed: list[tuple[str, str]] = []
        self.cancelled: list[tuple[str, str]] = []

    async def place(self, customer_id: str, body: dict[str, Any], _key: str) -> dict[str, Any]:
        self.placed.append((customer_id, body["payment_method"]))
        if len(self.placed) == 2:
            raise refused(422, "no such currency")
        return {"id": f"o{len(self.placed)}"}

    async def cancel(self, customer_id: str, order_id: str) -> dict[str, Any]:
        self.cancelled.append((customer_id, order_id))
        if order_id == "o1":
            raise refused(409, self._refusal)
        return {"status": "cancelling"}


class FakeClients:
    def __init__(self, refusal: str) -> None:
        self.orders = FakeOrders(refusal)


def refused(status: int, body: str) -> Refused:
    return Refused(httpx.Response(status, text=body, request=httpx.Request("POST", "http://order.example")))


async def test_each_cancels_the_order_that_was_placed_and_keeps_what_was_answered() -> None:
    clients = FakeClients('{"type": "order-state-conflict", "state": "declined"}')
    run = Run("changed")
    wanted = [
        Wish(FILE[0], CARD_THAT_IS_DECLINED, 0.0),
        Wish(FILE[1], PAYMENT_METHOD, 0.0),
        Wish(FILE[2], PAYMENT_METHOD, 0.0),
    ]

    told = await regret(cast("Clients", clients), run, iter(wanted), seconds=60, a_second=1_000)

    customers = [run.customer_id(purchase) for purchase in FILE[:3]]
    assert clients.orders.placed == list(
        zip(customers, (CARD_THAT_IS_DECLINED, PAYMENT_METHOD, PAYMENT_METHOD), strict=True)
    )
    assert clients.orders.cancelled == [(customers[0], "o1"), (customers[2], "o3")]
    by_line = {one.purchase.line: one for one in told}
    assert [(by_line[n].placed.order_id, by_line[n].card_pays, by_line[n].refused_as) for n in (1, 2, 3)] == [
        ("o1", False, "declined"),
        (None, True, None),
        ("o3", True, None),
    ]
    assert "422: no such currency" in str(by_line[2].placed.refusal)
    assert by_line[1].placed.posted_at <= datetime.now(UTC)


async def test_a_refusal_that_names_no_state_is_kept_whole() -> None:
    clients = FakeClients("gone")

    (told,) = await regret(
        cast("Clients", clients), Run("changed"), iter([Wish(FILE[0], PAYMENT_METHOD, 0.0)]), seconds=60, a_second=1_000
    )

    assert told.refused_as == "POST http://order.example answered 409: gone"
