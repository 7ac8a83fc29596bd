"""Orders that are not paid in time, watched at every public place: the tick expires them, and late money goes back."""

from __future__ import annotations

from typing import Any

from world.story import PlacedOrder
from world.waiting import eventually
from world.world import World


async def expired(world: World, *orders: PlacedOrder) -> None:
    """Their time to pay is over, and the tick has found that out."""
    await world.databases.execute(
        "order",
        "UPDATE orders SET placed_at = placed_at - interval '25 hours' WHERE id::text = ANY ($1)",
        [order.id for order in orders],
    )
    # Refused where somebody asked in this minute; then the tick's own next firing is waited for.
    await world.operators.run_tick("order", "expire-orders")
    for order in orders:

        async def asked(order: PlacedOrder = order) -> bool:
            return (await world.story.view(order))["cancel_reason"] == "expired"

        await eventually(asked, what=f"order {order.id} has expired", within=120)


async def until_cancelled(world: World, order: PlacedOrder) -> dict[str, Any]:
    """Wait until the order is cancelled; as its customer sees it."""
    return await world.story.until(order, "cancelled", within=90)


async def test_an_order_that_stays_unpaid_is_cancelled_as_expired_and_never_captured(world: World) -> None:
    world.stack.stop("payment-worker")
    overdue, young = await world.story.place(), await world.story.place()
    await eventually(lambda: world.story.payments(overdue), what="payment has opened the order's payment")

    await expired(world, overdue)

    view = await until_cancelled(world, overdue)
    assert [entry["event"] for entry in view["timeline"]] == [
        "order.placed",
        "order.cancel_requested",
        "payment.cancelled",
        "order.cancelled",
    ]
    assert (view["cancel_reason"], view["refunded_minor"], view["paid_at"]) == ("expired", 0, None)

    # The worker comes back: it pays what is in time, and leaves the expired one alone.
    world.stack.start("payment-worker")
    await world.story.until_mailed(young)
    _, moves = await world.story.at_the_provider(overdue)
    assert moves == []
    assert [payment.status for payment in await world.story.payments(overdue)] == ["cancelled"]
    assert await world.story.clients.billing.invoices_of(overdue.customer) == []


async def test_a_payment_that_is_heard_of_too_late_goes_back_whole(world: World) -> None:
    world.stack.stop("order-consumer")
    order = await world.story.place()

    async def captured() -> bool:
        return [payment.status for payment in await world.story.payments(order)] == ["settled"]

    await eventually(captured, what="payment has captured the money, which order has not heard of", within=60)
    assert (await world.story.view(order))["status"] == "pending_payment"

    await expired(world, order)

    async def given_back() -> bool:
        _, moves = await world.story.at_the_provider(order)
        return [move.kind for move in moves] == ["capture", "refund"]

    await eventually(given_back, what="payment gives the money back", within=60)
    assert (await world.story.view(order))["status"] == "cancelling", "it has not heard of that either"
    world.stack.start("order-consumer")
    view = await until_cancelled(world, order)
    assert (view["cancel_reason"], view["refunded_minor"]) == ("expired", view["total_minor"])
    assert view["paid_at"] is not None

    async def credited() -> bool:
        return len((await world.story.view(order))["credit_note_numbers"]) == 1

    await eventually(credited, what="the invoice has its credit note", within=60)
    _, moves = await world.story.at_the_provider(order)
    assert [(move.kind, move.amount_minor) for move in moves] == [
        ("capture", view["total_minor"]),
        ("refund", view["total_minor"]),
    ]
