"""The wait for orders that were cancelled: with their money given back and credited, and with none."""

import pytest

from demo.clients import Clients
from demo.purchases import read_purchases
from demo.run import Run
from demo.settlement import Settlement, StoodStill
from demo.suite import Suite
from demo.tests.fake_suite import FakeSuite

PURCHASES = read_purchases()[:2]
RUN = Run("cancelled")


async def placed(clients: Clients) -> list[str]:
    views = [
        await clients.orders.place(RUN.customer_id(one), RUN.order_body(one), RUN.idempotency_key(one))
        for one in PURCHASES
    ]
    return [view["id"] for view in views]


async def cancel(clients: Clients, order_ids: list[str]) -> None:
    for purchase, order_id in zip(PURCHASES, order_ids, strict=True):
        view = await clients.orders.cancel(RUN.customer_id(purchase), order_id)
        assert view["status"] == "cancelling"


async def settle(clients: Clients, order_ids: list[str], *, standstill: float = 10.0) -> None:
    settlement = Settlement(clients, order_ids, look_every=0.05)
    await settlement.wait(standstill=standstill, report=lambda _done, _total: None)


async def test_a_cancelled_order_that_was_paid_for_has_ended_when_its_credit_note_is_mailed(
    running: Suite, fake: FakeSuite
) -> None:
    async with Clients(running, patience=10) as clients:
        order_ids = await placed(clients)
        await settle(clients, order_ids)
        fake.steps = 3
        await cancel(clients, order_ids)
        await settle(clients, order_ids)
        notes = [note async for note in clients.billing.credit_notes()]

    assert {note.order_id for note in notes} == set(order_ids)
    assert all(note.mailed_at is not None for note in notes)


@pytest.mark.parametrize(
    ("cancelled_at_once", "explained"),
    [(True, "2 not paid, declined or cancelled"), (False, "2 not mailed of its credit note")],
)
async def test_a_cancel_that_stands_still_is_given_up_and_says_where(
    running: Suite, fake: FakeSuite, cancelled_at_once: bool, explained: str
) -> None:
    async with Clients(running, patience=10) as clients:
        order_ids = await placed(clients)
        if not cancelled_at_once:
            await settle(clients, order_ids)
            fake.steps, fake.notes_are_mailed = 3, False
        await cancel(clients, order_ids)
        with pytest.raises(StoodStill, match=explained):
            await settle(clients, order_ids, standstill=0.5)


async def test_an_order_cancelled_before_it_was_paid_has_ended_without_papers(running: Suite, fake: FakeSuite) -> None:
    fake.steps = 3
    async with Clients(running, patience=10) as clients:
        order_ids = await placed(clients)
        await cancel(clients, order_ids)
        await settle(clients, order_ids)

    assert fake.credit_notes == []
    assert [order["status"] for order in fake.orders] == ["cancelled", "cancelled"]


@pytest.mark.parametrize("effect", [True, False], ids=["the effect applied", "no effect"])
async def test_a_cancel_whose_answer_is_lost_is_asked_for_again(running: Suite, fake: FakeSuite, effect: bool) -> None:
    fake.first_tries_lost, fake.effect_before_loss = (503,), effect
    async with Clients(running, patience=10) as clients:
        order_ids = await placed(clients)
        await cancel(clients, order_ids)

    assert [fake.tries[order_id] for order_id in order_ids] == [2, 2]
