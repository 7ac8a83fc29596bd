"""What an event class must declare, and what publishing refuses."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, TypeAlias
from uuid import UUID, uuid4

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from service_platform.database import Database, Transaction
from service_platform.event_bus import Event, EventBus, NotThisServicesEvent, UnencodableEvent
from service_platform.outbox import MAX_PAYLOAD_BYTES, MessageRefused, MessageTooLarge
from service_platform.telemetry import correlation_scope

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class OrderPlaced(Event):
    event_name: ClassVar[Literal["order.placed"]] = "order.placed"
    version: ClassVar[int] = 3
    source: ClassVar[str] = "order"
    key_field: ClassVar[str] = "order_id"
    order_id: UUID
    note: str = ""
    ratio: float = 0.0
    anything: Any = None


class InMemoryTransaction(Transaction):
    """Gathers what is published; there is no database behind it."""

    def __init__(self) -> None:
        self._parts = {}


def placed(**fields: Any) -> OrderPlaced:
    return OrderPlaced.create(order_id=uuid4(), **fields)


async def test_a_published_event_is_a_row_with_all_its_headers(database: Database, owner: Owner) -> None:
    event = placed(note="hello")
    before = datetime.now(UTC)
    with correlation_scope("request-7"):
        async with database.transaction() as tx:
            await EventBus("order").publish(event, tx)
    row = await owner.fetchrow("SELECT * FROM outbox")
    assert row is not None
    assert (row["channel"], row["destination"], row["key"]) == ("kafka", "events.order", str(event.order_id))
    headers = orjson.loads(row["headers"])
    assert headers["event-id"] == str(row["message_id"])
    assert (headers["event-name"], headers["event-version"]) == ("order.placed", "3")
    assert (headers["event-source"], headers["correlation-id"]) == ("order", "request-7")
    assert before <= datetime.fromisoformat(headers["occurred-at"]) <= datetime.now(UTC)
    assert OrderPlaced.parse(row["payload"]) == event


@given(before=st.text(), after=st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_with_nul_is_refused(before: str, after: str) -> None:
    for event in (placed(note=f"{before}\x00{after}"), placed(anything={"deep": [{f"{before}\x00{after}": 1}]})):
        with pytest.raises(MessageRefused):
            await EventBus("order").publish(event, InMemoryTransaction())


@given(note=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
async def test_any_text_without_nul_is_carried_unchanged(note: str) -> None:
    """Also the six characters that an escaped NUL looks like."""
    for carried in (note, note + r"\u0000", note + "\\" + r"\u0000", "\\" * 3 + r"u0000" + note):
        event = placed(note=carried)
        await EventBus("order").publish(event, InMemoryTransaction())
        assert OrderPlaced.parse(event.model_dump_json().encode()).note == carried


@given(number=st.sampled_from([math.nan, math.inf, -math.inf]), depth=st.integers(0, 3))
async def test_a_number_that_json_does_not_know_is_refused(number: float, depth: int) -> None:
    value: Any = number
    for _ in range(depth):
        value = {"deep": [value]}
    with pytest.raises(UnencodableEvent):
        await EventBus("order").publish(placed(anything=value), InMemoryTransaction())
    unchecked = OrderPlaced.model_construct(order_id=uuid4(), ratio=number)
    with pytest.raises(UnencodableEvent):
        await EventBus("order").publish(unchecked, InMemoryTransaction())
    with pytest.raises(ValidationError):
        placed(ratio=number)


async def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(UnencodableEvent):
        await EventBus("order").publish(placed(anything="\ud800"), InMemoryTransaction())


async def test_a_payload_near_the_topics_limit_is_refused() -> None:
    envelope = len(placed(note="").model_dump_json())
    await EventBus("order").publish(placed(note="x" * (MAX_PAYLOAD_BYTES - envelope)), InMemoryTransaction())
    with pytest.raises(MessageTooLarge):
        await EventBus("order").publish(placed(note="x" * (MAX_PAYLOAD_BYTES - envelope + 1)), InMemoryTransaction())


async def test_another_services_event_is_refused_and_so_is_what_is_none() -> None:
    with pytest.raises(NotThisServicesEvent, match="'order'"):
        await EventBus("payment").publish(placed(), InMemoryTransaction())
    with pytest.raises(NotThisServicesEvent, match="dict is no Event"):
        await EventBus("order").publish({"order_id": 1}, InMemoryTransaction())  # type: ignore[arg-type]


def test_create_refuses_a_field_that_the_class_does_not_have() -> None:
    with pytest.raises(TypeError, match="no field typo"):
        placed(typo=1)


def test_a_reader_ignores_what_it_does_not_declare() -> None:
    order_id = uuid4()
    parsed = OrderPlaced.parse(orjson.dumps({"order_id": str(order_id), "added_later": 1}))
    assert parsed == OrderPlaced(order_id=order_id)


@pytest.mark.parametrize(
    "declaration",
    [
        {"event_name": "OrderPlaced"},
        {"event_name": None},
        {"version": 0},
        {"source": None},
        {"source": "Order Service"},
        {"key_field": "no_such_field"},
        {"attempts": 0},
    ],
)
def test_an_event_class_that_declares_too_little_fails_at_import(declaration: dict[str, Any]) -> None:
    whole = {"event_name": "order.placed", "version": 1, "source": "order", "key_field": "order_id", "attempts": 5}
    namespace = {
        "__annotations__": dict.fromkeys(whole, ClassVar[Any]) | {"order_id": str},
        "__module__": __name__,
        **{name: value for name, value in (whole | declaration).items() if value is not None},
    }
    with pytest.raises(TypeError, match=next(iter(declaration))):
        type("Incomplete", (Event,), namespace)


def test_a_key_that_is_no_text_fails_at_import() -> None:
    with pytest.raises(TypeError, match="str or a UUID"):

        class KeyedByNumber(Event):
            event_name: ClassVar[str] = "order.placed"
            version: ClassVar[int] = 1
            source: ClassVar[str] = "order"
            key_field: ClassVar[str] = "number"
            number: int
