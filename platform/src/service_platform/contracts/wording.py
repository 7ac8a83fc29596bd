"""Schemas in the words of a message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
}


def describe(schema: Mapping[str, Any]) -> str:
    """What a schema without references at its top takes: `string (uuid)`, `integer (at least 0)`, `"en" or "vi"`."""
    if "const" in schema:
        return one_of([schema["const"]])
    if "enum" in schema:
        return one_of(schema["enum"])
    kind = str(schema.get("type", "anything"))
    if kind == "object":
        return f"{kind} {schema['title']}" if "title" in schema else kind
    if kind == "array" and "items" in schema:
        items = schema["items"]
        kind = f"array of {items['$ref'].rpartition('/')[2] if '$ref' in items else describe(items)}"
    limits = [schema["format"]] if "format" in schema else []
    limits += [text.format(schema[keyword]) for keyword, text in _BOUNDS.items() if keyword in schema]
    return f"{kind} ({', '.join(limits)})" if limits else kind


def one_of(values: Iterable[Any]) -> str:
    """`"en" or "vi"`, as JSON writes them."""
    return " or ".join(json.dumps(value, ensure_ascii=False) for value in values)
