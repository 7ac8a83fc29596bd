"""What a consumer reads beyond its publisher's contract is refused, and the message names the field and the mend."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from contract_lab import Line, order_placed
from pydantic import BaseModel, ConfigDict, Field

from service_platform.contracts import Breach, EventContract, breaches_of_reader, contract_of, reader_of
from service_platform.event_bus import Event

PUBLISHED = contract_of(order_placed(defaults={"customer_id": "nobody"}))


class LineWithPrice(Line):
    price_minor: int


class ShortLine(BaseModel):
    sku: Annotated[str, Field(max_length=3)]


class StrictLine(Line):
    model_config = ConfigDict(extra="forbid")


class AnyLine(BaseModel):
    """A narrower view of a line, wider in its types."""

    sku: str | int
    quantity: float | None = None


def placed_as_read(*, without: tuple[str, ...] = (), **declared: Any) -> type[Event]:
    """What a consumer that keeps to the contract could write."""
    return order_placed(without=("customer_id", *without), **declared)


class Planted(NamedTuple):
    """What a consumer declares, the field that the message must name, and words of its mend."""

    reader: type[Event]
    field: str
    mend: str


BEYOND = {
    "a name that nobody publishes": Planted(placed_as_read(name="order.place"), "", "correct `event_name`"),
    "an event of another service": Planted(placed_as_read(source="billing"), "source", 'set `source` to "order"'),
    "another key": Planted(
        order_placed(key="customer_id", customer_id=str), "customer_id", 'set `key_field` to "order_id"'
    ),
    "a version that does not exist yet": Planted(placed_as_read(version=2), "version", "set `version` to 1"),
    "a field that is not sent": Planted(placed_as_read(totl_minor=int), "totl_minor", "order sends order_id, "),
    "an optional field that is not sent": Planted(
        placed_as_read(totl_minor=int, defaults={"totl_minor": 0}), "totl_minor", "correct its name"
    ),
    "a nested field that is not sent": Planted(
        placed_as_read(lines=list[LineWithPrice]), "lines[].price_minor", "correct its name"
    ),
    "a field that may be left out": Planted(order_placed(), "customer_id", "give it a default"),
    "another type": Planted(placed_as_read(total_minor=str), "total_minor", "widen its type"),
    "only some of the values": Planted(placed_as_read(locale=Literal["en"]), "locale", "widen its type"),
    "other values": Planted(placed_as_read(locale=Literal["EN", "VI"]), "locale", "widen its type"),
    "never null": Planted(placed_as_read(note=str), "note", "`… | None`"),
    "a tighter bound": Planted(
        placed_as_read(total_minor=Annotated[int, Field(ge=1)]), "total_minor", "widen its type"
    ),
    "a format that is not promised": Planted(placed_as_read(note=UUID | None), "note", "widen its type"),
    "a tighter nested type": Planted(placed_as_read(lines=list[ShortLine]), "lines[].sku", "widen its type"),
    "one item instead of a list": Planted(placed_as_read(lines=Line), "lines", "widen its type"),
    "no fields but its own": Planted(
        placed_as_read(config=ConfigDict(extra="forbid")), "", 'take `extra="forbid"` away'
    ),
    "no fields but its own, in a model": Planted(
        placed_as_read(lines=list[StrictLine]), "lines[]", 'take `extra="forbid"` away'
    ),
}


def read(event: type[Event], contract: EventContract = PUBLISHED, service: str = "payment") -> list[Breach]:
    """What is said when `service` hands this class to one of its consumers."""
    return breaches_of_reader(reader_of(service, event, [f"{service}.open-payment"]), [contract])


@pytest.mark.parametrize("planted", BEYOND.values(), ids=BEYOND.keys())
def test_a_reader_that_goes_beyond_the_contract_is_refused(planted: Planted) -> None:
    (breach,) = read(planted.reader)
    assert breach.event == planted.reader.event_name
    assert breach.field == planted.field
    assert breach.file.endswith("contract_lab.py")
    assert planted.mend in breach.mend


@pytest.mark.parametrize(
    "reader",
    [
        pytest.param(placed_as_read(), id="all that is always sent"),
        pytest.param(placed_as_read(without=("lines",)), id="less"),
        pytest.param(order_placed(defaults={"customer_id": None}, customer_id=str | None), id="a default for the rest"),
        pytest.param(placed_as_read(locale=str, total_minor=float, order_id=str), id="wider types"),
        pytest.param(placed_as_read(locale=Literal["en", "vi", "de"]), id="more values than are sent"),
        pytest.param(placed_as_read(lines=list[AnyLine]), id="a wider model"),
        pytest.param(placed_as_read(total_minor=Annotated[int, Field(ge=0)] | None | int), id="one of its types fits"),
    ],
)
def test_a_reader_within_the_contract_is_taken(reader: type[Event]) -> None:
    assert read(reader) == []


def test_a_service_that_consumes_its_own_event_is_refused() -> None:
    (breach,) = read(placed_as_read(), service="order")
    assert breach.fact == "order consumes its own event"
    assert "one synchronous call" in breach.mend


def test_a_reader_without_a_consumer_is_refused() -> None:
    (breach,) = breaches_of_reader(reader_of("payment", placed_as_read(), []), [PUBLISHED])
    assert breach.fact == "payment has a class for it and no consumer"


class TestAnEventThatHasGrown:
    """Version 2 added `currency`; messages of version 1 are still under way."""

    first = contract_of(order_placed())
    second = contract_of(order_placed(version=2, currency=str)).after(first)

    def test_a_reader_of_the_first_version_cannot_require_what_the_second_brought(self) -> None:
        (breach,) = read(order_placed(currency=str), self.second)
        assert breach.field == "currency"
        assert breach.fact.startswith("version 1,")
        assert "a default" in breach.mend
        assert "`version` to 2" in breach.mend

    def test_it_can_read_it_with_a_default(self) -> None:
        assert read(order_placed(currency=str, defaults={"currency": "EUR"}), self.second) == []

    def test_a_reader_that_starts_with_the_second_version_can_require_it(self) -> None:
        assert read(order_placed(version=2, currency=str), self.second) == []

    def test_a_reader_of_the_first_version_cannot_rely_on_a_promise_of_the_third(self) -> None:
        third = contract_of(order_placed(version=3, currency=str, note=str)).after(self.second)
        (breach,) = read(order_placed(note=str), third)
        assert breach.field == "note"
        assert "`version` to 3" in breach.mend
