"""Placing an order, on a real database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

import orjson
import pytest
from order_lab import key, place_order, placed
from sqlalchemy import text

from order_service.bootstrap import order_service
from order_service.domain.orders import OrderQueries, OrderService, OrderTable, OrderView
from service_platform.database import Database, Transaction
from service_platform.event_bus import Event, EventBus
from service_platform.idempotency import AlreadyAnswered, IdempotencyKeyReused


class BrokenBus(EventBus):
    """Fails when it publishes."""

    async def publish(self, event: Event, tx: Transaction) -> None:
        raise RuntimeError(f"{event.event_name} cannot be published")


async def count(database: Database, table: str) -> int:
    async with database.read() as session:
        return int((await session.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one())


async def test_an_order_and_its_event_commit_together(order_database: Database) -> None:
    view = await placed(order_database)
    async with order_database.read() as session:
        sent = (await session.execute(text("SELECT destination, key, payload FROM outbox"))).one()
    assert (sent.destination, sent.key) == ("events.order", str(view.id))
    event = orjson.loads(sent.payload)
    assert event["total_minor"] == view.total_minor == 3_250
    assert event["customer_email"] == "ann@example.com"
    assert [line["sku"] for line in event["lines"]] == ["TEA-1", "CUP-1"]


async def test_what_was_answered_is_what_is_read_later(order_database: Database) -> None:
    view = await placed(order_database)
    assert await OrderQueries(order_database).get(view.id, customer_id="ann") == view
    assert view.status == "pending_payment"
    assert [(entry.event, entry.at) for entry in view.timeline] == [("order.placed", view.placed_at)]


async def test_an_order_whose_event_cannot_be_published_does_not_exist(order_database: Database) -> None:
    service = OrderService(order_database, OrderTable(), BrokenBus("order"))
    with pytest.raises(RuntimeError, match="cannot be published"):
        await service.place(place_order())
    for table in ("orders", "order_lines", "order_timeline", "outbox", "idempotency_key"):
        assert await count(order_database, table) == 0, f"{table} kept a row of a rolled-back order"


async def test_the_same_request_again_answers_the_same_order(order_database: Database) -> None:
    command = place_order(idempotency=key("once"))
    view = await order_service(order_database).place(command)
    with pytest.raises(AlreadyAnswered) as replay:
        await order_service(order_database).place(command)
    assert OrderView.model_validate_json(replay.value.body) == view
    assert replay.value.location == f"/orders/{view.id}"
    assert await count(order_database, "orders") == 1


async def test_the_same_request_twice_at_once_makes_one_order(order_database: Database) -> None:
    command = place_order(idempotency=key("once"))
    service = order_service(order_database)
    answers = await asyncio.gather(*(service.place(command) for _ in range(4)), return_exceptions=True)
    views = [answer for answer in answers if isinstance(answer, OrderView)]
    replays = [answer for answer in answers if isinstance(answer, AlreadyAnswered)]
    assert (len(views), len(replays)) == (1, 3)
    assert {UUID(orjson.loads(replay.body)["id"]) for replay in replays} == {views[0].id}
    assert await count(order_database, "orders") == 1


async def test_another_request_under_a_used_key_is_refused(order_database: Database) -> None:
    await placed(order_database, idempotency=key("once"))
    other = replace(place_order(), idempotency=key("once", body="another"))
    with pytest.raises(IdempotencyKeyReused):
        await order_service(order_database).place(other)
    assert await count(order_database, "orders") == 1
