"""What one JSON schema can say that another does not read: the comparison under every rule about contracts.

It knows the part of JSON Schema that pydantic writes. What it does not know must be equal on both sides, so what cannot
be judged is reported and never passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from .facets import Schema, constraints, facets_fit, listed_values, schema_of, type_fits
from .wording import describe, one_of


class GapKind(Enum):
    """In which way the reader falls short."""

    MISSING = "it requires a field that is never said"
    UNKNOWN = "it reads a field that is never said"
    OPTIONAL = "it requires a field that is not always said"
    WIDER = "it does not take every value that is said"
    CLOSED = "it refuses fields that it does not know"


@dataclass(frozen=True)
class Gap:
    """One place where what is said does not lie within what is read. `field` is its path: `lines[].sku`."""

    field: str
    kind: GapKind
    says: str = ""
    reads: str = ""


def gaps(reads: Schema, says: Schema) -> list[Gap]:
    """Where a reader of schema `reads` cannot rely on a publisher of schema `says`; empty if it always can.

    Fields that only `says` has are no gap: readers ignore them.
    """
    return _Comparison(reads.get("$defs", {}), says.get("$defs", {})).gaps("", reads, says)


class _Comparison:
    def __init__(self, reads_defs: Schema, says_defs: Schema) -> None:
        self._reads_defs = reads_defs
        self._says_defs = says_defs
        self._open: set[tuple[str, str]] = set()

    def gaps(self, field: str, reads: Schema, says: Schema) -> list[Gap]:
        """Two recursive models fit if they do wherever they do not lead back to themselves."""
        pair = (reads.get("$ref", ""), says.get("$ref", ""))
        if not all(pair):
            return self._of_unions(field, reads, says)
        if pair in self._open:
            return []
        self._open.add(pair)
        try:
            return self._of_unions(field, reads, says)
        finally:
            self._open.discard(pair)

    def _of_unions(self, field: str, reads: Schema, says: Schema) -> list[Gap]:
        """Each thing that can be said must be taken by one of those that are read."""
        readable = _options(reads, self._reads_defs)
        found: list[Gap] = []
        for said in _options(says, self._says_defs):
            attempts = [(option, self._of_one(field, option, said)) for option in readable]
            if all(attempt for _, attempt in attempts):
                closest = [attempt for option, attempt in attempts if type_fits(option, said)]
                wider = [Gap(field, GapKind.WIDER, describe(said), " or ".join(map(describe, readable)))]
                nearest = min(closest, key=len, default=wider)
                found += nearest
        return found

    def _of_one(self, field: str, reads: Schema, says: Schema) -> list[Gap]:
        if not constraints(reads):
            return []
        said = listed_values(says)
        if said is not None:
            untaken = [value for value in said if not self._takes(reads, value)]
            return [Gap(field, GapKind.WIDER, one_of(untaken), describe(reads))] if untaken else []
        if not type_fits(reads, says) or not facets_fit(reads, says):
            return [Gap(field, GapKind.WIDER, describe(says), describe(reads))]
        return self._of_fields(field, reads, says) + self._of_items(field, reads, says)

    def _takes(self, reads: Schema, value: object) -> bool:
        listed = listed_values(reads)
        if listed is not None:
            return any(type(one) is type(value) and one == value for one in listed)
        return not self._of_one("", reads, schema_of(value, reads.get("pattern")))

    def _of_fields(self, field: str, reads: Schema, says: Schema) -> list[Gap]:
        found: list[Gap] = []
        required = reads.get("required", ())
        for name, read in reads.get("properties", {}).items():
            path = f"{field}.{name}" if field else name
            said = says.get("properties", {}).get(name)
            if said is None:
                found.append(Gap(path, GapKind.MISSING if name in required else GapKind.UNKNOWN))
                continue
            if name in required and name not in says.get("required", ()):
                found.append(Gap(path, GapKind.OPTIONAL))
            found += self.gaps(path, read, said)
        return found + self._of_other_fields(field, reads, says)

    def _of_other_fields(self, field: str, reads: Schema, says: Schema) -> list[Gap]:
        """What becomes of names that the reader does not know: a model ignores them, a mapping reads them all."""
        others = f"{field}{{}}"
        found: list[Gap] = []
        if "propertyNames" in reads:
            found += self.gaps(others, reads["propertyNames"], says.get("propertyNames", {"type": "string"}))
        for pattern, read in reads.get("patternProperties", {}).items():
            found += self.gaps(others, read, says.get("patternProperties", {}).get(pattern, {}))
        read = reads.get("additionalProperties", True)
        if read is False:
            found.append(Gap(field, GapKind.CLOSED))
        elif read is not True:
            # What is a model there can gain fields of any type, so only a mapping can be read as a mapping.
            said = says.get("additionalProperties", True)
            found += self.gaps(others, read, said if isinstance(said, Mapping) else {})
        return found

    def _of_items(self, field: str, reads: Schema, says: Schema) -> list[Gap]:
        found: list[Gap] = []
        for place in range(max(len(schema.get("prefixItems", ())) for schema in (reads, says))):
            found += self.gaps(f"{field}[{place}]", _item(reads, place), _item(says, place))
        return found + self.gaps(f"{field}[]", reads.get("items", {}), says.get("items", {}))


def _options(schema: Schema, defs: Schema) -> list[Schema]:
    """The schema without references and unions at its top: a value is taken if one of these takes it."""
    while "$ref" in schema:
        beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        schema = {**defs[schema["$ref"].removeprefix("#/$defs/")], **beside}
    for union in ("anyOf", "oneOf"):  # pydantic writes oneOf only for models told apart by a tag
        if union in schema:
            beside = {keyword: schema[keyword] for keyword in constraints(schema) - {union}}
            return [flat for option in schema[union] for flat in _options({**option, **beside}, defs)]
    if "enum" in schema and "type" not in schema:  # values of several types, which several options may take
        return [{"const": value} for value in schema["enum"]]
    return [schema]


def _item(schema: Schema, place: int) -> Schema:
    prefix: list[Schema] = schema.get("prefixItems", [])
    items: Schema = schema.get("items", {})
    return prefix[place] if place < len(prefix) else items
