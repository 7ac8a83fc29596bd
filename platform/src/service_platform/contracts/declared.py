"""A service's event classes, found where they belong: `events/` has what it tells, `events/<other>/` what it reads."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from service_platform.event_bus import Consumer, Event

from .contract import EventContract
from .facets import Schema

ClassT = TypeVar("ClassT")


@dataclass(frozen=True)
class Reader:
    """What a service reads of another's event. `consumers` names those that it is handed to."""

    service: str
    source: str
    name: str
    version: int
    key: str
    payload: Schema
    consumers: tuple[str, ...] = ()
    file: str = ""


def package_of(service: str) -> str:
    """The package that `service` is written in: `order_service` for order."""
    return f"{service.replace('-', '_')}_service"


def published_by(service: str) -> list[EventContract]:
    """What the classes in the service's `events/` promise, by name. They know nothing of earlier versions."""
    own = [module for module in _modules(f"{package_of(service)}.events") if not _is_of_another(module, service)]
    return sorted(map(contract_of, _classes(own, Event)), key=lambda contract: contract.name)


def read_by(service: str) -> list[Reader]:
    """What the service reads: the classes in `events/<other>/`, and whatever else its consumers are handed."""
    others = [module for module in _modules(f"{package_of(service)}.events") if _is_of_another(module, service)]
    consumers: dict[type[Event], list[str]] = defaultdict(list)
    for consumer in _classes(_modules(f"{package_of(service)}.reactors"), Consumer):  # type: ignore[type-abstract]
        consumers[consumer.event].append(consumer.name)
    classes = dict.fromkeys([*_classes(others, Event), *consumers])
    readers = [reader_of(service, event, sorted(consumers[event])) for event in classes]
    return sorted(readers, key=lambda reader: (reader.name, reader.file))


def contract_of(event: type[Event]) -> EventContract:
    """What a publisher's class promises. A field with a default is one that may be left out."""
    by_alias = bool(event.model_config.get("serialize_by_alias", False))
    return EventContract(
        source=event.source,
        name=event.event_name,
        version=event.version,
        key=event.key_field,
        payload=_open(event.model_json_schema(mode="serialization", by_alias=by_alias)),
        file=_file(event),
    )


def reader_of(service: str, event: type[Event], consumers: Iterable[str]) -> Reader:
    """What a consumer's class reads."""
    return Reader(
        service=service,
        source=event.source,
        name=event.event_name,
        version=event.version,
        key=event.key_field,
        payload=event.model_json_schema(mode="validation"),
        consumers=tuple(consumers),
        file=_file(event),
    )


def _modules(package: str) -> Iterator[ModuleType]:
    """A package and all that is in it; nothing if the service has no such package."""
    if importlib.util.find_spec(package) is None:
        return
    module = importlib.import_module(package)
    yield module
    for found in pkgutil.walk_packages(module.__path__, f"{package}."):
        yield importlib.import_module(found.name)


def _is_of_another(module: ModuleType, service: str) -> bool:
    """Whether it lies in a package inside `events/`."""
    events = f"{package_of(service)}.events"
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    return package != events


def _classes(modules: Iterable[ModuleType], base: type[ClassT]) -> list[type[ClassT]]:
    """The classes that extend `base` and are written in these modules."""
    return [
        member
        for module in modules
        for member in vars(module).values()
        if isinstance(member, type)
        and issubclass(member, base)
        and member.__module__ == module.__name__
        and not inspect.isabstract(member)
    ]


def _open(schema: Any) -> Any:
    """The schema without the promise that no field is ever added."""
    if isinstance(schema, list):
        return [_open(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _open(one) for name, one in schema.items() if (name, one) != ("additionalProperties", False)}


def _file(event: type[Event]) -> str:
    path = Path(inspect.getfile(event))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
