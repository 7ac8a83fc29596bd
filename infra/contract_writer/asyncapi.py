"""The events of the whole suite as one AsyncAPI document: who sends what on which topic, and who receives it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, TypeAlias

from native.settings import StackSettings
from native.topology import PORT_OFFSETS
from service_platform.contracts import Contracts, EventContract, Reader
from service_platform.event_bus import headers, topic_of
from topics import TOPICS, Topic

Document: TypeAlias = dict[str, Any]
_BINDING = {"bindingVersion": "0.5.0"}


class UndeclaredTopic(Exception):
    """A service publishes, and its topic does not stand in the list that topics are made from."""


def asyncapi(contracts: Contracts, readers: Iterable[Reader]) -> Document:
    """The document. Raises `UndeclaredTopic`."""
    publishing = {source: events for source, events in contracts.items() if events}
    return {
        "asyncapi": "3.1.0",
        "info": {
            "title": "Fencepost events",
            "version": version("fencepost"),
            "description": "What the services tell each other over Kafka. A message carries one event and can come "
            "again; those with equal keys come in the order in which their transactions committed.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {"kafka": _server()},
        "channels": {topic_of(source): _channel(source, events) for source, events in publishing.items()},
        "operations": _operations(publishing, list(readers)),
        "components": {
            "messages": {event.name: _message(event) for events in publishing.values() for event in events},
            "schemas": {name: s for events in publishing.values() for e in events for name, s in _schemas(e).items()},
        },
    }


def _server() -> Document:
    port_base = StackSettings.model_fields["port_base"].default
    return {
        "host": "{host}:{port}",
        "protocol": "kafka",
        "description": "The broker. The defaults are those of `make up` without containers.",
        "variables": {
            "host": {"default": "127.0.0.1"},
            "port": {"default": str(port_base + PORT_OFFSETS["kafka"])},
        },
    }


def _channel(source: str, events: Sequence[EventContract]) -> Document:
    topic = _topic(topic_of(source))
    return {
        "address": topic.name,
        "description": f"The events of {source}.",
        "servers": [_ref("servers", "kafka")],
        "messages": {event.name: _ref("components", "messages", event.name) for event in events},
        "bindings": {
            "kafka": {
                "partitions": topic.partitions,
                "topicConfiguration": {
                    "cleanup.policy": [topic.settings["cleanup.policy"]],
                    "retention.ms": topic.retention_ms,
                    "max.message.bytes": topic.max_message_bytes,
                },
                **_BINDING,
            }
        },
    }


def _topic(name: str) -> Topic:
    for topic in TOPICS:
        if topic.name == name:
            return topic
    raise UndeclaredTopic(
        f"{name} is published to and does not stand in TOPICS of infra/topics/__init__.py: add it there"
    )


def _operations(contracts: Contracts, readers: Sequence[Reader]) -> Document:
    services = sorted({*contracts, *(reader.service for reader in readers)})
    operations = {}
    for service in services:
        if service in contracts:
            operations[f"{service}.sends"] = {
                "action": "send",
                **_carried(service, [event.name for event in contracts[service]]),
                "tags": [{"name": service}],
            }
        for source in sorted({reader.source for reader in readers if reader.service == service}):
            read = [reader for reader in readers if (reader.service, reader.source) == (service, source)]
            operations[f"{service}.receives.{source}"] = {
                "action": "receive",
                **_carried(source, [reader.name for reader in read]),
                "description": "Consumers: " + ", ".join(sorted(name for one in read for name in one.consumers)) + ".",
                "tags": [{"name": service}],
                "bindings": {"kafka": {"groupId": {"type": "string", "enum": [service]}, **_BINDING}},
            }
    return operations


def _carried(source: str, names: Sequence[str]) -> Document:
    channel = topic_of(source)
    return {
        "channel": _ref("channels", channel),
        "messages": [_ref("channels", channel, "messages", name) for name in names],
    }


def _message(event: EventContract) -> Document:
    key = event.payload["properties"][event.key]
    return {
        "name": event.name,
        "title": event.payload["title"],
        "summary": event.payload.get("description", ""),
        **({"deprecated": True} if event.is_deprecated else {}),
        "headers": _headers(event),
        "payload": _ref("components", "schemas", event.name),
        "correlationId": {"location": f"$message.header#/{headers.CORRELATION_ID}"},
        "tags": [{"name": event.source}],
        "bindings": {"kafka": {"key": {**key, "description": f"The text of {event.key}."}, **_BINDING}},
    }


def _headers(event: EventContract) -> Document:
    text = {"type": "string"}
    always = {
        headers.EVENT_ID: {
            **text,
            "format": "uuid",
            "description": "The same at every delivery of the event: consumers know by it what they have handled.",
        },
        headers.EVENT_NAME: {**text, "const": event.name},
        headers.EVENT_VERSION: {
            **text,
            "enum": [str(number) for number in event.payloads],
            "description": "Counts additive changes. The payload is described as the highest one sends it.",
        },
        headers.EVENT_SOURCE: {**text, "const": event.source},
        headers.OCCURRED_AT: {**text, "format": "date-time"},
        headers.CORRELATION_ID: {**text, "description": "Of the request or tick that all this began with."},
    }
    traced = {
        "traceparent": {**text, "description": "W3C trace context, where there is a trace."},
        "tracestate": text,
    }
    return {"type": "object", "required": list(always), "properties": {**always, **traced}}


def _schemas(event: EventContract) -> Document:
    """The payload and the models in it, which move out of `$defs`: references begin at the top of the document."""
    models = event.payload.get("$defs", {})
    payload = {keyword: value for keyword, value in event.payload.items() if keyword != "$defs"}
    named = {event.name: payload, **{f"{event.name}.{model}": schema for model, schema in models.items()}}
    return {name: _rebased(schema, event.name) for name, schema in named.items()}


def _rebased(schema: Any, event_name: str) -> Any:
    if isinstance(schema, list):
        return [_rebased(one, event_name) for one in schema]
    if isinstance(schema, dict):
        # pydantic's discriminator is OpenAPI's, which AsyncAPI does not know; the tags in the models say the same.
        return {keyword: _rebased(one, event_name) for keyword, one in schema.items() if keyword != "discriminator"}
    if isinstance(schema, str) and schema.startswith("#/$defs/"):
        return _pointer("components", "schemas", f"{event_name}.{schema.removeprefix('#/$defs/')}")
    return schema


def _ref(*path: str) -> Document:
    return {"$ref": _pointer(*path)}


def _pointer(*path: str) -> str:
    return "#/" + "/".join(path)
