"""`contracts/asyncapi.yaml` is valid, says what the services do, and a wrong document is not written."""

from __future__ import annotations

import copy
from typing import Annotated, Any, Literal
from uuid import uuid4

import pytest
import yaml
from contract_lab import order_placed
from jsonschema import Draft7Validator
from pydantic import BaseModel, Field

from contract_writer.asyncapi import UndeclaredTopic, asyncapi
from contract_writer.asyncapi_file import InvalidAsyncApi, asyncapi_text, validate
from native.topology import SERVICES
from service_platform.contracts import contract_of, published_by, read_by, reader_of
from service_platform.event_bus import EventBus
from service_platform.outbox import OutboxMessage
from service_platform.telemetry import span
from world.patterns import ROOT

Document = dict[str, Any]


@pytest.fixture(scope="module")
def written() -> Document:
    document = yaml.safe_load((ROOT / "contracts" / "asyncapi.yaml").read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def test_the_written_document_is_valid(written: Document) -> None:
    validate(written)


@pytest.mark.parametrize("service", SERVICES)
def test_it_says_who_sends_and_receives_what(written: Document, service: str) -> None:
    def messages(operation: str) -> set[str]:
        return {message["$ref"].rpartition("/")[2] for message in written["operations"][operation]["messages"]}

    assert messages(f"{service}.sends") == {event.name for event in published_by(service)}
    for source in {reader.source for reader in read_by(service)}:
        read = {reader.name for reader in read_by(service) if reader.source == source}
        assert messages(f"{service}.receives.{source}") == read


async def test_what_the_bus_sends_is_what_it_describes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[OutboxMessage] = []
    monkeypatch.setattr("service_platform.event_bus.bus.append", lambda message, _tx: sent.append(message))
    event = order_placed()
    placed = event.create(
        order_id=uuid4(), customer_id="c", locale="en", total_minor=1, lines=[{"sku": "TEA", "quantity": 2}], note=None
    )
    with span("test"):
        await EventBus("order").publish(placed, None)  # type: ignore[arg-type]
    (message,) = sent
    document = asyncapi({"order": [contract_of(event)]}, [])
    described = document["components"]["messages"]["order.placed"]
    assert document["channels"][message.destination]["address"] == message.destination
    Draft7Validator(described["headers"]).validate(dict(message.headers))
    assert set(message.headers) <= set(described["headers"]["properties"])


class Card(BaseModel):
    kind: Literal["card"]
    last4: str


class Transfer(BaseModel):
    kind: Literal["transfer"]
    before: Transfer | None = None


def test_an_event_with_models_that_refer_to_themselves_and_to_each_other_is_valid() -> None:
    event = order_placed(paid_by=Annotated[Card | Transfer, Field(discriminator="kind")])
    text = asyncapi_text(asyncapi({"order": [contract_of(event)]}, [reader_of("payment", event, ["payment.open"])]))
    schemas = yaml.safe_load(text)["components"]["schemas"]
    assert {"order.placed", "order.placed.Card", "order.placed.Transfer", "order.placed.Line"} == set(schemas)
    assert "$defs" not in text


def test_a_deprecated_event_is_marked() -> None:
    event = contract_of(order_placed(config={"json_schema_extra": {"deprecated": True}}))
    assert asyncapi({"order": [event]}, [])["components"]["messages"]["order.placed"]["deprecated"] is True


def test_a_publisher_without_a_topic_is_refused() -> None:
    with pytest.raises(UndeclaredTopic, match=r"events\.shipping .*infra/topics/__init__\.py"):
        asyncapi({"shipping": [contract_of(order_placed(source="shipping"))]}, [])


def _without(document: Document, *path: str) -> None:
    part = document
    for name in path[:-1]:
        part = part[name]
    del part[path[-1]]


FAULTS: dict[str, Any] = {
    "an operation without an action": lambda document: _without(document, "operations", "order.sends", "action"),
    "a message that is gone": lambda document: _without(document, "components", "messages", "order.placed"),
    "an unknown word": lambda document: document["channels"]["events.order"].update(adress="events.order"),
    "no partitions": lambda document: document["channels"]["events.order"]["bindings"]["kafka"].update(partitions=0),
    "a message of another channel": lambda document: document["operations"]["order.sends"].update(
        channel={"$ref": "#/channels/events.payment"}
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_an_invalid_document_is_refused(written: Document, fault: Any) -> None:
    broken = copy.deepcopy(written)
    fault(broken)
    with pytest.raises(InvalidAsyncApi):
        validate(broken)
