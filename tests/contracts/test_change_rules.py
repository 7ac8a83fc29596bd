"""Each change of an event that breaks its readers is refused, and the message names the field and the mend."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from contract_lab import Line, order_placed
from pydantic import BaseModel, Field

from service_platform.contracts import Breach, EventContract, breaches_of_change, contract_of, next_name
from service_platform.event_bus import Event


class LineWithoutQuantity(BaseModel):
    sku: str


class LineWithDiscount(Line):
    discount_minor: int


class Planted(NamedTuple):
    """What somebody changes, the field that the message must name, and words of its mend."""

    before: type[Event]
    after: type[Event]
    field: str
    mend: str


NEW_NAME = "order.placed.v2"
BREAKING = {
    "a field is taken away": Planted(order_placed(), order_placed(without=("total_minor",)), "total_minor", NEW_NAME),
    "a field is renamed": Planted(
        order_placed(), order_placed(without=("customer_id",), buyer_id=str, version=2), "customer_id", NEW_NAME
    ),
    "a field of a nested model is taken away": Planted(
        order_placed(), order_placed(lines=list[LineWithoutQuantity]), "lines[].quantity", NEW_NAME
    ),
    "a field gets another type": Planted(order_placed(), order_placed(total_minor=str), "total_minor", NEW_NAME),
    "a whole number becomes a decimal": Planted(
        order_placed(), order_placed(total_minor=Decimal), "total_minor", NEW_NAME
    ),
    "a field may now be null": Planted(order_placed(), order_placed(total_minor=int | None), "total_minor", NEW_NAME),
    "a field may now be left out": Planted(
        order_placed(), order_placed(defaults={"total_minor": 0}), "total_minor", "take its default away"
    ),
    "a list of values grows": Planted(
        order_placed(), order_placed(locale=Literal["en", "vi", "de"]), "locale", NEW_NAME
    ),
    "a list of values becomes any text": Planted(order_placed(), order_placed(locale=str), "locale", NEW_NAME),
    "a bound is moved out": Planted(
        order_placed(total_minor=Annotated[int, Field(ge=0, le=10)]),
        order_placed(total_minor=Annotated[int, Field(ge=0, le=100)]),
        "total_minor",
        NEW_NAME,
    ),
    "a bound is dropped": Planted(
        order_placed(customer_id=Annotated[str, Field(max_length=36)]), order_placed(), "customer_id", NEW_NAME
    ),
    "a pattern changes": Planted(
        order_placed(customer_id=Annotated[str, Field(pattern="^c-")]),
        order_placed(customer_id=Annotated[str, Field(pattern="^C-")]),
        "customer_id",
        NEW_NAME,
    ),
    "a format is dropped": Planted(order_placed(customer_id=UUID), order_placed(), "customer_id", NEW_NAME),
    "a list becomes one item": Planted(order_placed(), order_placed(lines=Line), "lines", NEW_NAME),
    "the key changes": Planted(order_placed(), order_placed(key="customer_id"), "customer_id", NEW_NAME),
    "another service publishes it": Planted(order_placed(), order_placed(source="billing"), "source", NEW_NAME),
    "a field is added and the version stays": Planted(
        order_placed(), order_placed(currency=str), "currency", "raise `version` to 2"
    ),
    "an optional field is added and the version stays": Planted(
        order_placed(version=4), order_placed(version=4, currency=str, defaults={"currency": "EUR"}), "currency", "to 5"
    ),
    "a nested field is added and the version stays": Planted(
        order_placed(), order_placed(lines=list[LineWithDiscount]), "lines[].discount_minor", "raise `version` to 2"
    ),
    "a promise is made stricter and the version stays": Planted(
        order_placed(), order_placed(note=str), "note", "raise `version` to 2"
    ),
    "the version goes down": Planted(order_placed(version=3), order_placed(version=2), "version", "`version` to 3"),
    "the version jumps": Planted(order_placed(), order_placed(version=3, currency=str), "version", "`version` to 2"),
    "the version goes up for nothing": Planted(order_placed(), order_placed(version=2), "version", "`version` to 1"),
}


def changed(before: type[Event], after: type[Event]) -> list[Breach]:
    """What is said when the class `before` of a merged contract becomes `after`."""
    old = contract_of(before)
    return breaches_of_change([old], [contract_of(after).after(old)])


@pytest.mark.parametrize("planted", BREAKING.values(), ids=BREAKING.keys())
def test_a_change_that_breaks_readers_is_refused(planted: Planted) -> None:
    (breach,) = changed(planted.before, planted.after)
    assert breach.event == "order.placed"
    assert breach.field == planted.field
    assert breach.file.endswith("contract_lab.py")
    assert planted.mend in breach.mend


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(order_placed(version=2, currency=str), id="a field more"),
        pytest.param(order_placed(version=2, currency=str, defaults={"currency": "EUR"}), id="an optional field more"),
        pytest.param(order_placed(version=2, lines=list[LineWithDiscount]), id="a nested field more"),
        pytest.param(order_placed(version=2, note=str), id="never null any more"),
        pytest.param(order_placed(version=2, locale=Literal["en"]), id="fewer values"),
        pytest.param(order_placed(version=2, total_minor=Annotated[int, Field(ge=0)]), id="a bound more"),
        pytest.param(order_placed(version=2, customer_id=UUID), id="a format more"),
        pytest.param(order_placed(), id="nothing"),
        pytest.param(order_placed(config={"extra": "forbid"}), id="strictness towards its own code"),
        pytest.param(
            order_placed(customer_id=Annotated[str, Field(title="Customer", description="Who", examples=["c-1"])]),
            id="words about it",
        ),
    ],
)
def test_an_additive_change_with_the_next_version_is_taken(after: type[Event]) -> None:
    assert changed(order_placed(), after) == []


def test_an_event_that_is_taken_away_is_refused_unless_it_was_deprecated() -> None:
    old = contract_of(order_placed())
    (breach,) = breaches_of_change([old], [])
    assert (breach.event, breach.fact) == ("order.placed", "order does not publish it any more")
    assert "deprecated" in breach.mend
    deprecated = contract_of(order_placed(config={"json_schema_extra": {"deprecated": True}}))
    assert breaches_of_change([old], [deprecated]) == [], "to deprecate is no change for readers"
    assert breaches_of_change([deprecated], []) == []


def test_an_event_that_moves_to_another_services_file_is_refused() -> None:
    moved = contract_of(order_placed(source="billing"))
    (breach,) = breaches_of_change([contract_of(order_placed())], [], [moved])
    assert breach.field == "source"
    assert "let order publish it" in breach.mend


def test_several_additive_changes_at_once_are_taken_if_each_has_its_version() -> None:
    first = contract_of(order_placed())
    second = contract_of(order_placed(version=2, currency=str)).after(first)
    third = contract_of(order_placed(version=3, currency=str, reason=str)).after(second)
    assert set(third.payloads) == {1, 2, 3}
    assert breaches_of_change([first], [third]) == []


def test_a_field_that_comes_and_goes_between_two_merges_is_refused() -> None:
    first = contract_of(order_placed())
    second = contract_of(order_placed(version=2, currency=str)).after(first)
    third = contract_of(order_placed(version=3, reason=str)).after(second)
    (breach,) = breaches_of_change([first], [third])
    assert breach.field == "currency"


@pytest.mark.parametrize("fault", ["forgotten", "rewritten"])
def test_what_an_earlier_version_was_cannot_be_rewritten(fault: str) -> None:
    first = contract_of(order_placed())
    second = contract_of(order_placed(version=2, currency=str)).after(first)
    earlier: dict[int, Any] = {} if fault == "forgotten" else {1: second.payload}
    (breach,) = breaches_of_change([second], [replace(second, earlier=earlier)])
    assert (breach.event, breach.field) == ("order.placed", "earlier")
    assert "from the main branch" in breach.mend


def test_a_new_event_may_look_as_it_likes() -> None:
    assert breaches_of_change([], [contract_of(order_placed(version=1))]) == []


def test_a_successor_counts_on() -> None:
    assert next_name("order.placed") == "order.placed.v2"
    assert next_name("order.placed.v2") == "order.placed.v3"


def test_a_contract_reads_back_as_it_was_written() -> None:
    from service_platform.contracts import contracts_text, parse_contracts

    first = contract_of(order_placed())
    second = contract_of(order_placed(version=2, currency=str)).after(first)
    assert parse_contracts(contracts_text([second]), "order", "") == [second]
    assert isinstance(second, EventContract)
