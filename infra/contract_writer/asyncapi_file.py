"""The text of `contracts/asyncapi.yaml`: nothing is written that the official schema refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

_OFFICIAL = Path(__file__).parent / "asyncapi_schema" / "3.1.0.json"
_HEAD = "# Written by `make contracts` from the event classes and the list of topics. Change those, not this.\n"


class InvalidAsyncApi(Exception):
    """The document is not what AsyncAPI allows; the text says where."""


def asyncapi_text(document: dict[str, Any]) -> str:
    """The document as YAML. Raises `InvalidAsyncApi`."""
    validate(document)
    return _HEAD + yaml.dump(document, Dumper=_WithoutAliases, sort_keys=False, allow_unicode=True, width=120)


def validate(document: dict[str, Any]) -> None:
    """Hold the document against the official schema, and each of its references against the document itself.

    Raises `InvalidAsyncApi`.
    """
    error = best_match(_validator().iter_errors(document))
    if error is not None:
        raise InvalidAsyncApi(f"{error.json_path}: {error.message}")
    for pointer in _references(document):
        _follow(document, pointer)
    for name, operation in document["operations"].items():
        channel = operation["channel"]["$ref"]
        for message in operation["messages"]:
            if not message["$ref"].startswith(f"{channel}/messages/"):
                raise InvalidAsyncApi(
                    f"operation {name} carries {message['$ref']}, which is not of its channel {channel}"
                )


@cache
def _validator() -> Draft7Validator:
    return Draft7Validator(json.loads(_OFFICIAL.read_text(encoding="utf-8")))


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _references(one)


def _follow(document: dict[str, Any], pointer: str) -> None:
    target: Any = document
    for name in pointer.removeprefix("#/").split("/"):
        if not isinstance(target, dict) or name not in target:
            raise InvalidAsyncApi(f"{pointer} leads nowhere: there is no {name}")
        target = target[name]


class _WithoutAliases(yaml.SafeDumper):
    """Writes what occurs twice twice: people read this file."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
