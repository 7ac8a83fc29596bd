"""What a publisher can say is what its contract says, and every reader of it understands it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from datetime import UTC
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from contract_writer.openapi import described_settings
from contract_writer.suite import FOLDER
from native.topology import SERVICES
from service_platform.contracts import package_of, read_by, read_contracts
from service_platform.event_bus import Consumer, Event

_moments = st.datetimes(timezones=st.just(UTC))


def events_in(package: str) -> list[type[Event]]:
    """The event classes that a package offers."""
    offered = vars(importlib.import_module(package)).values()
    return [thing for thing in offered if isinstance(thing, type) and issubclass(thing, Event) and thing is not Event]


def readers() -> Iterator[type[Event]]:
    """Every class that a service has for an event of another."""
    for service in SERVICES:
        for source in sorted({reader.source for reader in read_by(service)}):
            yield from events_in(f"{package_of(service)}.events.{source}")


PUBLISHED = {event.event_name: event for service in SERVICES for event in events_in(f"{package_of(service)}.events")}
CONTRACTS = {contract.name: contract for known in read_contracts(FOLDER).values() for contract in known}


def said_by(publisher: type[Event]) -> st.SearchStrategy[Event]:
    """Whatever the class can hold."""
    times = [name for name in publisher.model_fields if name.endswith("_at")]
    return st.builds(publisher, **dict.fromkeys(times, _moments))


@pytest.mark.parametrize("publisher", PUBLISHED.values(), ids=PUBLISHED.keys())
def test_whatever_is_published_lies_within_the_contract(publisher: type[Event]) -> None:
    contract = Draft202012Validator(CONTRACTS[publisher.event_name].payload, format_checker=FormatChecker())

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(said_by(publisher))
    def check(said: Event) -> None:
        contract.validate(json.loads(said.model_dump_json()))

    check()


@pytest.mark.parametrize(
    "reader", list(readers()), ids=lambda reader: f"{reader.__module__.partition('_')[0]}-{reader.event_name}"
)
def test_a_reader_can_read_whatever_its_publisher_can_say(reader: type[Event]) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(said_by(PUBLISHED[reader.event_name]))
    def check(said: Event) -> None:
        heard = reader.parse(said.model_dump_json().encode())
        assert heard.key == said.key
        assert _within(heard.model_dump(mode="json"), said.model_dump(mode="json"))

    check()


@pytest.mark.parametrize("service", SERVICES)
def test_every_consumer_that_a_service_has_is_handed_to_its_engine(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bootstrap = importlib.import_module(f"{package_of(service)}.bootstrap")
    handed: list[Consumer[Any]] = []
    monkeypatch.setattr(bootstrap, "run_consumers", lambda _s, _d, consumers, **_: handed.extend(consumers))
    bootstrap.build_consumer(described_settings(service))
    assert {consumer.name for consumer in handed} == {name for reader in read_by(service) for name in reader.consumers}


def _within(heard: Any, said: Any) -> bool:
    """Whether everything heard was said, member by member."""
    if isinstance(heard, dict):
        return all(_within(value, said[name]) for name, value in heard.items())
    if isinstance(heard, list):
        return all(_within(*pair) for pair in zip(heard, said, strict=True))
    return bool(heard == said)
