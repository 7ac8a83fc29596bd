"""What a service reads of another's event lies within what that one publishes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from datetime import UTC
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service_platform.event_bus import Event

SERVICES = ("order", "payment", "billing")

_moments = st.datetimes(timezones=st.just(UTC))


def events_in(package: str) -> list[type[Event]]:
    """The event classes that a package offers."""
    offered = vars(importlib.import_module(package)).values()
    return [thing for thing in offered if isinstance(thing, type) and issubclass(thing, Event) and thing is not Event]


def readers() -> Iterator[tuple[str, type[Event]]]:
    """Every class that a service has for an event of another, with the service's name."""
    for service in SERVICES:
        package = importlib.import_module(f"{service}_service.events")
        for folder in pkgutil.iter_modules(package.__path__):
            if folder.ispkg:
                for event in events_in(f"{package.__name__}.{folder.name}"):
                    yield service, event


PUBLISHED = {event.event_name: event for service in SERVICES for event in events_in(f"{service}_service.events")}
READERS = list(readers())


def test_every_published_event_is_read_by_another_service() -> None:
    read = {event.event_name for service, event in READERS if service != event.source}
    assert set(PUBLISHED) == read, "an event exists only if another service consumes it"


@pytest.mark.parametrize(("service", "reader"), READERS, ids=lambda value: getattr(value, "event_name", value))
def test_a_reader_names_the_event_as_its_publisher_does(service: str, reader: type[Event]) -> None:
    publisher = PUBLISHED[reader.event_name]
    assert (reader.source, reader.key_field) == (publisher.source, publisher.key_field)
    assert reader.source != service, "a service does not consume its own events"
    assert reader.version <= publisher.version
    assert reader.model_fields.keys() <= publisher.model_fields.keys()


@pytest.mark.parametrize(("service", "reader"), READERS, ids=lambda value: getattr(value, "event_name", value))
def test_a_reader_can_read_whatever_its_publisher_can_say(service: str, reader: type[Event]) -> None:
    del service
    publisher = PUBLISHED[reader.event_name]

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.builds(publisher, **dict.fromkeys(_times(publisher), _moments)))
    def check(said: Event) -> None:
        heard = reader.parse(said.model_dump_json().encode())
        assert heard.key == said.key
        assert _within(heard.model_dump(mode="json"), said.model_dump(mode="json"))

    check()


def _times(event: type[Event]) -> list[str]:
    return [name for name in event.model_fields if name.endswith("_at")]


def _within(heard: Any, said: Any) -> bool:
    """Whether everything heard was said, member by member."""
    if isinstance(heard, dict):
        return all(_within(value, said[name]) for name, value in heard.items())
    if isinstance(heard, list):
        return all(_within(*pair) for pair in zip(heard, said, strict=True))
    return bool(heard == said)
