"""Asking for an order to be cancelled, on a real database."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import orjson
import pytest
from order_lab import cancel_order, mark_cancelled, mark_declined, mark_paid, placed, shown
from sqlalchemy import text

from order_service.bootstrap import order_service
from order_service.domain.orders import OrderNotFound, OrderService, OrderStateConflict, OrderTable
from service_platform.database import Database, Transaction
from service_platform.event_bus import Event, EventBus


class BrokenBus(EventBus):
    """Fails when it publishes."""

    async def publish(self, event: Event, tx: Transaction) -> None:
        raise RuntimeError(f"{event.event_name} cannot be published")


async def told(database: Database, order_id: UUID) -> list[tuple[str, dict[str, str]]]:
    """What was published about the order, oldest first."""
    query = text("SELECT headers ->> 'event-name' AS name, payload FROM outbox WHERE key = :key ORDER BY position")
    async with database.read() as session:
        rows = (await session.execute(query, {"key": str(order_id)})).all()
    return [(row.name, orjson.loads(row.payload)) for row in rows]


@pytest.mark.parametrize("paid", [False, True], ids=["before it is paid", "after it is paid"])
async def test_a_cancel_asks_payment_and_concludes_nothing_itself(order_database: Database, paid: bool) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    if paid:
        await service.mark_paid(mark_paid(order.id))
    view = await service.cancel(cancel_order(order.id))
    assert (view.status, view.cancel_reason) == ("cancelling", "customer")
    assert view == await shown(order_database, order.id)
    (_, _), (name, event) = await told(order_database, order.id)
    assert (name, event["order_id"], event["reason"]) == ("order.cancel_requested", str(order.id), "customer")
    assert view.timeline[-1].event == "order.cancel_requested"


async def test_to_ask_again_shows_the_order_as_it_is_and_publishes_nothing(order_database: Database) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    answers = await asyncio.gather(*(service.cancel(cancel_order(order.id)) for _ in range(4)))
    assert {view.status for view in answers} == {"cancelling"}
    assert len({view.cancel_requested_at for view in answers}) == 1
    await service.mark_cancelled(mark_cancelled(order.id))
    assert (await service.cancel(cancel_order(order.id))).status == "cancelled"
    assert [name for name, _ in await told(order_database, order.id)] == ["order.placed", "order.cancel_requested"]


async def test_somebody_elses_order_is_not_found_and_not_cancelled(order_database: Database) -> None:
    order = await placed(order_database)
    for stranger in (cancel_order(order.id, "bob"), cancel_order(uuid4())):
        with pytest.raises(OrderNotFound):
            await order_service(order_database).cancel(stranger)
    assert (await shown(order_database, order.id)).status == "pending_payment"


async def test_a_declined_order_cannot_be_cancelled(order_database: Database) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    await service.mark_declined(mark_declined(order.id))
    with pytest.raises(OrderStateConflict) as refused:
        await service.cancel(cancel_order(order.id))
    assert (refused.value.facts["state"], refused.value.facts["wanted"]) == ("declined", "cancelling")


async def test_a_cancel_that_cannot_be_published_did_not_happen(order_database: Database) -> None:
    order = await placed(order_database)
    service = OrderService(order_database, OrderTable(), BrokenBus("order"))
    with pytest.raises(RuntimeError, match="cannot be published"):
        await service.cancel(cancel_order(order.id))
    view = await shown(order_database, order.id)
    assert (view.status, view.cancel_requested_at, len(view.timeline)) == ("pending_payment", None, 1)
