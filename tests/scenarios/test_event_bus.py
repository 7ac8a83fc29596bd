"""The event bus as each service uses it, on the real processes.

One order makes every service publish: order `order.placed`, payment `payment.settled`, billing `invoice.issued`. So
each guarantee is shown once a service, on the domain change behind its own event.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

import pytest

from world.databases import planted
from world.story import PlacedOrder, order_body
from world.waiting import eventually
from world.world import World


@dataclass(frozen=True)
class Publication:
    """What one service publishes in an order's story, and the domain row that commits with it."""

    event: str
    topic: str
    table: str
    order_column: str
    state: str = "true"  # of the row, where the change is an update


PUBLICATIONS = {
    "order": Publication("order.placed", "events.order", "orders", "id"),
    "payment": Publication("payment.settled", "events.payment", "payments", "order_id", "status = 'settled'"),
    "billing": Publication("invoice.issued", "events.billing", "invoices", "order_id"),
}


async def changes(world: World, service: str, order: PlacedOrder) -> int:
    """How many domain changes of `service` stand committed for the order."""
    published = PUBLICATIONS[service]
    return int(
        await world.databases.value(
            service,
            f"SELECT count(*) FROM {published.table} WHERE {published.order_column}::text = $1 AND {published.state}",
            order.id,
        )
    )


async def outbox(world: World, service: str, order: PlacedOrder) -> list[bool]:
    """For each outbox row of the event: whether it is marked sent."""
    rows = await world.databases.rows(
        service,
        """
        SELECT q.position IS NULL AS sent FROM outbox o LEFT JOIN outbox_queue q USING (position)
        WHERE o.key = $1 AND o.headers::text LIKE $2 ORDER BY o.position
        """,
        order.id,
        f"%{PUBLICATIONS[service].event}%",
    )
    return [row["sent"] for row in rows]


async def published(world: World, service: str, order: PlacedOrder) -> int:
    """How many records of the event stand in its topic."""
    records = await world.bus.records(PUBLICATIONS[service].topic, order.id)
    return sum(record.header("event-name") == PUBLICATIONS[service].event for record in records)


def refusal(table: str, *, times: int, when: str = "true") -> tuple[str, str]:
    """Statements that plant and remove a trigger: `table` refuses so many changes at COMMIT; a sequence counts them.

    At COMMIT the outbox row was inserted before. A sequence is not rolled back, so it tells how often a transaction
    came to this point. `when` is the trigger's condition.
    """
    plant = f"""
        CREATE SEQUENCE refusals;
        GRANT USAGE ON refusals TO PUBLIC;
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF nextval('refusals') <= {times} THEN
                RAISE EXCEPTION 'refused by the scenario';
            END IF;
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON {table}
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refuse();
    """
    remove = f"DROP TRIGGER refuse ON {table}; DROP FUNCTION refuse(); DROP SEQUENCE refusals"
    return plant, remove


async def tried(world: World, service: str) -> int:
    """How many transactions have come to the planted trigger."""
    return int(
        await world.databases.value(service, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM refusals")
    )


async def place_against_refusal(world: World, service: str) -> PlacedOrder:
    """A new order whose story comes to `service` while its change is refused a few times.

    Where `service` is order itself, its POST fails meanwhile and is repeated with one key until it succeeds.
    """
    customer, key, body = f"customer-{uuid4()}", str(uuid4()), order_body(unit_price_minor=0)
    if service == "order":
        failed = await world.story.post(body, customer=customer, key=key)
        assert failed.status_code == 500
        assert failed.headers["content-type"] == "application/problem+json"
        assert "refused by the scenario" not in failed.text, "a 500 tells nothing of its cause"
    answer = await world.story.clients.orders.place(customer, body, key)
    return PlacedOrder(str(answer["id"]), customer)


@pytest.mark.scenario("event-bus/atomic-with-transaction")
async def test_the_outbox_row_exists_exactly_when_the_domain_change_commits(world: World, service: str) -> None:
    plant, remove = refusal("outbox", times=2, when=f"NEW.destination = '{PUBLICATIONS[service].topic}'")
    async with planted(world.databases, service, plant, remove):
        order = await place_against_refusal(world, service)
        await world.story.until_invoiced(order)
        assert await tried(world, service) >= 3, "two rows were refused, and took their changes back with them"
    assert await changes(world, service, order) == 1

    world.stack.stop(f"{service}-relay")
    order = await world.story.place(order_body(unit_price_minor=0))

    async def changed() -> bool:
        return await changes(world, service, order) == 1

    await eventually(changed, what=f"{service} has changed its row for order {order.id}")
    assert await outbox(world, service, order) == [False], "the row is there at once, and nobody has sent it"
    world.stack.start(f"{service}-relay")

    async def sent() -> bool:
        return await outbox(world, service, order) == [True]

    await eventually(sent, what=f"{service}'s relay has sent the event of order {order.id}")


@pytest.mark.scenario("event-bus/relay-only-after-commit")
async def test_nothing_is_published_for_a_rolled_back_transaction(world: World, service: str) -> None:
    plant, remove = refusal(PUBLICATIONS[service].table, times=2)
    async with planted(world.databases, service, plant, remove):
        order = await place_against_refusal(world, service)
        await world.story.until_invoiced(order)
        assert await tried(world, service) >= 3, "two transactions were rolled back, the next one was not"
    assert await changes(world, service, order) == 1

    async def sent() -> bool:
        return await outbox(world, service, order) == [True]

    await eventually(sent, what=f"{service} has sent the one event of order {order.id}")
    assert await published(world, service, order) == 1, "what was rolled back published nothing"


CONSUMED = {
    "order": [("events.payment", "payment.settled"), ("events.billing", "invoice.issued")],
    "payment": [("events.order", "order.placed")],
    "billing": [("events.order", "order.placed"), ("events.payment", "payment.settled")],
}
ROWS_OF_AN_ORDER = {
    "order": "SELECT xmin::text, 'orders' FROM orders WHERE id::text = $1",
    "payment": "SELECT xmin::text, 'payments' FROM payments WHERE order_id::text = $1",
    "billing": "SELECT xmin::text, 'invoices' FROM invoices WHERE order_id::text = $1",
}


@pytest.mark.scenario("event-bus/duplicate-delivery-is-a-noop")
async def test_a_redelivered_event_changes_nothing_twice(world: World, service: str) -> None:
    order = await world.story.place()
    view = await world.story.until_mailed(order)

    async def traces() -> list[object]:
        """The row versions of the order in `service`, and how much it ever published or claimed for it."""
        versions = await world.databases.rows(service, ROWS_OF_AN_ORDER[service], order.id)
        sent = await world.databases.value(service, "SELECT count(*) FROM outbox WHERE key = $1", order.id)
        return [[tuple(version) for version in versions], sent]

    before = await traces()
    for topic, event in CONSUMED[service]:
        (record,) = [r for r in await world.bus.records(topic, order.id) if r.header("event-name") == event]
        copy = await world.bus.repeat(record)

        async def passed(topic: str = topic, partition: int = copy.partition, offset: int = copy.offset) -> bool:
            return await world.bus.committed(service, topic, partition) > offset

        await eventually(passed, what=f"{service} has passed the second {event} of order {order.id}")
    assert await traces() == before
    assert len(await world.story.mails(view)) == 1
    _, moves = await world.story.at_the_provider(order)
    assert len(moves) == 1
