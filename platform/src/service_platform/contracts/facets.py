"""What limits a single value: its type, length, bounds, format and whatever else a schema asks of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

# What a schema says about itself without changing which values it takes; what begins with x- is of this kind too.
_ANNOTATIONS = {
    "$comment",
    "$defs",
    "default",
    "deprecated",
    "description",
    "discriminator",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
}
_AT_LEAST = ("minLength", "minItems", "minProperties")
_AT_MOST = ("maxLength", "maxItems", "maxProperties")
_LOWER_BOUNDS = ("minimum", "exclusiveMinimum")
_UPPER_BOUNDS = ("maximum", "exclusiveMaximum")
_STRUCTURE = {  # compared by whoever looks into the value
    "additionalProperties",
    "items",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "type",
}
_COMPARED_ONE_BY_ONE = {*_AT_LEAST, *_AT_MOST, *_LOWER_BOUNDS, *_UPPER_BOUNDS, *_STRUCTURE, "format", "multipleOf"}
_NARROWER_FORMATS = {"uuid": {f"uuid{number}" for number in range(1, 9)}}


def constraints(schema: Schema) -> set[str]:
    """The keywords that limit what the schema takes."""
    return {keyword for keyword in schema if keyword not in _ANNOTATIONS and not keyword.startswith("x-")}


def listed_values(schema: Schema) -> list[Any] | None:
    """The values that the schema lists, if it does."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if "enum" in schema else None


def schema_of(value: object, pattern: str | None) -> Schema:
    """A schema of this value alone that says all that a reader can ask for; `pattern` too, if the value matches it."""
    if value is None:
        return {"type": "null"}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int | float):
        kind = "integer" if isinstance(value, int) else "number"
        return {"type": kind, "minimum": value, "maximum": value, "multipleOf": value}
    if isinstance(value, str):
        matched = {"pattern": pattern} if pattern and re.search(pattern, value) else {}
        return {"type": "string", "minLength": len(value), "maxLength": len(value), **matched}
    return {}


def type_fits(reads: Schema, says: Schema) -> bool:
    """Whether the type that is said is one that is read."""
    read, said = reads.get("type"), says.get("type")
    return read in (None, said) or (read, said) == ("number", "integer")


def facets_fit(reads: Schema, says: Schema) -> bool:
    """Whether `says` limits its values at least as tightly as `reads`. A keyword not known here must be equal."""
    return (
        all(says.get(facet, 0) >= reads.get(facet, 0) for facet in _AT_LEAST)
        and all(says.get(facet, math.inf) <= reads.get(facet, math.inf) for facet in _AT_MOST)
        and _tightest(says, _LOWER_BOUNDS, 1) >= _tightest(reads, _LOWER_BOUNDS, 1)
        and _tightest(says, _UPPER_BOUNDS, -1) >= _tightest(reads, _UPPER_BOUNDS, -1)
        and _format_fits(reads.get("format"), says.get("format"))
        and _step_fits(reads.get("multipleOf"), says.get("multipleOf"))
        and all(reads[keyword] == says.get(keyword) for keyword in constraints(reads) - _COMPARED_ONE_BY_ONE)
    )


def _tightest(schema: Schema, bounds: tuple[str, str], towards: int) -> tuple[float, bool]:
    """The bound as something that grows as it gets tighter; of equal ones, the exclusive one is tighter."""
    inclusive, exclusive = bounds
    found = [(-math.inf, False)]
    if inclusive in schema:
        found.append((schema[inclusive] * towards, False))
    if exclusive in schema and schema.get("type") == "integer":
        found.append((schema[exclusive] * towards + 1, False))
    elif exclusive in schema:
        found.append((schema[exclusive] * towards, True))
    return max(found)


def _format_fits(read: str | None, said: str | None) -> bool:
    return read in (None, said) or said in _NARROWER_FORMATS.get(str(read), ())


def _step_fits(read: float | None, said: float | None) -> bool:
    return read is None or (said is not None and said % read == 0)
