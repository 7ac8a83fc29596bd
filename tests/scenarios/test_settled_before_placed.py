"""The two halves of an invoice, in whichever order billing hears of them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from uuid import uuid4

import pytest

from world.databases import planted
from world.story import PlacedOrder
from world.waiting import eventually
from world.world import World

PLACED, SETTLED = "billing.record-placed-order", "billing.record-settled-payment"


@contextlib.asynccontextmanager
async def held_back(world: World, consumer: str) -> AsyncIterator[None]:
    """What billing's `consumer` does fails at its COMMIT within the block, and is retried after it."""
    name = f"held_back_{uuid4().hex[:8]}"
    plant = f"""
        CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'held back by the scenario';
        END $$;
        CREATE CONSTRAINT TRIGGER {name} AFTER INSERT ON inbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (new.consumer = '{consumer}') EXECUTE FUNCTION {name}();
    """
    async with planted(world.databases, "billing", plant, f"DROP TRIGGER {name} ON inbox; DROP FUNCTION {name}()"):
        yield


async def half_is_there(world: World, order: PlacedOrder, column: str) -> bool:
    """Whether billing has one half of the order, and only that."""
    return bool(
        await world.databases.value(
            "billing",
            f"SELECT {column} IS NOT NULL AND num_nulls(customer_id, payment_id) = 1"
            " FROM gathered_orders WHERE order_id::text = $1",
            order.id,
        )
    )


async def has_one_invoice(world: World, order: PlacedOrder) -> None:
    view = await world.story.until_mailed(order)
    (invoice,) = await world.story.clients.billing.invoices_of(order.customer)
    assert (invoice.number, invoice.total_minor) == (view["invoice_number"], 2_500)
    assert len(await world.story.mails(view)) == 1
    published = await world.bus.records("events.billing", order.id)
    assert [record.header("event-name") for record in published] == ["invoice.issued"]


@pytest.mark.scenario("suite/settled-before-placed")
async def test_the_halves_make_one_invoice_in_either_order_and_at_the_same_instant(world: World) -> None:
    for late, early in ((PLACED, "payment_id"), (SETTLED, "customer_id")):
        order = await paid_while_billing_sleeps(world)
        async with held_back(world, late):
            world.stack.start("billing-consumer", wait=False)
            await eventually(
                partial(half_is_there, world, order, early), what=f"billing has {early} alone of {order.id}", within=60
            )
        await has_one_invoice(world, order)

    order = await paid_while_billing_sleeps(world)
    async with both_wait_for_each_other(world):
        world.stack.start("billing-consumer", wait=False)
    await has_one_invoice(world, order)


async def paid_while_billing_sleeps(world: World) -> PlacedOrder:
    """A paid order of which billing has heard nothing; both of its events wait in Kafka."""
    world.stack.stop("billing-consumer")
    order = await world.story.place()
    await world.story.until(order, "paid")
    return order


@contextlib.asynccontextmanager
async def both_wait_for_each_other(world: World) -> AsyncIterator[None]:
    """After the block, until two writers wait for billing's gathering table; then they go on at the same instant."""
    holder = await world.databases.another("billing")
    waiting = "SELECT count(*) = 2 FROM pg_locks WHERE relation = 'gathered_orders'::regclass AND NOT granted"
    try:
        async with holder.transaction():
            await holder.execute("LOCK TABLE gathered_orders IN SHARE MODE")
            yield
            await eventually(lambda: holder.fetchval(waiting), what="both halves wait for the table", within=60)
    finally:
        await holder.close()
