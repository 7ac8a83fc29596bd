"""Walking through orders page by page, on a real database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from order_lab import mark_declined, mark_paid, placed
from sqlalchemy import insert

from order_service.bootstrap import order_service
from order_service.domain.orders import OrderFilter, OrderQueries, OrderStatus, metadata
from service_platform.database import Database
from service_platform.pagination import Page, PageRequest, Position, decode_cursor

START = datetime(2026, 3, 1, tzinfo=UTC)
orders = metadata.tables["orders"]

# Ticks are few, so that many orders share an instant and the id decides.
ticks = st.integers(0, 3)
ids = st.uuids(version=4)
wave = st.lists(st.tuples(ticks, ids), max_size=4)


def at(tick: int) -> datetime:
    return START + timedelta(microseconds=tick)


async def insert_orders(database: Database, customer: str, rows: list[tuple[int, UUID]]) -> None:
    values: list[dict[str, Any]] = [
        {
            "id": order_id,
            "customer_id": customer,
            "customer_email": "ann@example.com",
            "locale": "en",
            "status": OrderStatus.PENDING_PAYMENT,
            "currency": "USD",
            "total_minor": 100,
            "payment_method": "pm_card_visa",
            "placed_at": at(tick),
        }
        for tick, order_id in rows
    ]
    if values:
        async with database.transaction() as tx:
            await tx.session.execute(insert(orders), values)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.lists(st.tuples(ticks, ids), max_size=9, unique_by=lambda row: row[1]),
    waves=st.lists(wave, max_size=4),
    limit=st.integers(1, 4),
)
async def test_a_walk_meets_every_order_once_whatever_is_placed_meanwhile(
    order_database: Database, first: list[tuple[int, UUID]], waves: list[list[tuple[int, UUID]]], limit: int
) -> None:
    customer, queries = uuid4().hex, OrderQueries(order_database)
    renamed = {order_id: uuid4() for _, order_id in first}  # ids of another example may stand in the table
    there = [(tick, renamed[order_id]) for tick, order_id in first]
    await insert_orders(order_database, customer, there)
    met: list[tuple[datetime, UUID]] = []
    cursor: str | None = None
    for turn in range(100):
        wanted = PageRequest(limit, decode_cursor(cursor) if cursor else None)
        rows = await queries.newest(customer_id=customer, before=wanted.after, limit=wanted.rows_to_read)
        page = Page[Any].of(rows, wanted, item=lambda row: row, position=lambda row: Position(row.placed_at, row.id))
        assert len(page.items) <= limit
        met += [(row.placed_at, row.id) for row in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        await insert_orders(
            order_database, customer, [(tick, uuid4()) for tick, _ in (waves[turn] if turn < len(waves) else [])]
        )
    assert cursor is None, "the walk does not end"
    assert met == sorted(set(met), reverse=True), "an order came twice, or out of order"
    assert {(at(tick), order_id) for tick, order_id in there} <= set(met), "an order was skipped"


async def test_filters_narrow_the_list_and_the_bounds_of_time_are_half_open(order_database: Database) -> None:
    customer, queries = uuid4().hex, OrderQueries(order_database)
    rows = [(tick, uuid4()) for tick in range(4)]
    await insert_orders(order_database, customer, rows)

    async def found(**wanted: Any) -> list[UUID]:
        views = await queries.newest(customer_id=customer, before=None, limit=10, wanted=OrderFilter(**wanted))
        return [view.id for view in views]

    newest_first = [order_id for _, order_id in reversed(rows)]
    assert await found() == newest_first
    assert await found(placed_from=at(1)) == newest_first[:3]
    assert await found(placed_before=at(3)) == newest_first[1:]
    assert await found(placed_from=at(1), placed_before=at(3)) == newest_first[1:3]
    assert await found(placed_from=at(3), placed_before=at(1)) == []
    assert await found(statuses=[OrderStatus.PENDING_PAYMENT]) == newest_first
    assert await found(statuses=[OrderStatus.PAID]) == []


@pytest.mark.parametrize(
    ("wanted", "met"),
    [(["paid"], {"paid"}), (["paid", "declined"], {"paid", "declined"}), ([], set()), (None, {"paid", "declined"})],
)
async def test_orders_are_found_by_any_of_several_states(
    order_database: Database, wanted: list[OrderStatus] | None, met: set[str]
) -> None:
    service = order_service(order_database)
    paid, declined = await placed(order_database), await placed(order_database)
    await service.mark_paid(mark_paid(paid.id))
    await service.mark_declined(mark_declined(declined.id))
    views = await OrderQueries(order_database).newest(
        customer_id=None, before=None, limit=10, wanted=OrderFilter(statuses=wanted)
    )
    assert {view.status for view in views} == met
