"""The comparison under the rules: no gap is found exactly where a reader takes everything that can be said."""

from __future__ import annotations

import enum
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import UUID4, AwareDatetime, BaseModel, Field, TypeAdapter

from service_platform.contracts import Gap, GapKind, gaps


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class LoudDog(Dog):
    volume: int


class Tree(BaseModel):
    children: list[Tree]


class Node(BaseModel):
    children: list[Node]


class NamedNode(BaseModel):
    name: str
    children: list[NamedNode]


def found(reads: Any, says: Any) -> list[Gap]:
    """The gaps between two types, as pydantic writes their schemas."""
    return gaps(
        reads=TypeAdapter(reads).json_schema(mode="validation"),
        says=TypeAdapter(says).json_schema(mode="serialization"),
    )


@pytest.mark.parametrize(
    ("reads", "says"),
    [
        (Any, Tree),
        (float, int),
        (int | str, str | int),
        (UUID, UUID4),
        (str, UUID),
        (datetime, AwareDatetime),
        (str, Colour),
        (Literal["red", "blue", "green"], Colour),
        (str | int, Literal["red", 1]),
        (Literal["red", 1, 2], Literal["red", 1]),
        (Annotated[str, Field(min_length=2, max_length=3, pattern="^[a-z]+$")], Literal["en", "vie"]),
        (Annotated[int, Field(gt=0)], Annotated[int, Field(ge=1)]),
        (Annotated[int, Field(lt=11)], Annotated[int, Field(le=10)]),
        (Annotated[float, Field(ge=0)], Annotated[float, Field(gt=0)]),
        (Annotated[int, Field(multiple_of=5)], Annotated[int, Field(multiple_of=10)]),
        (Annotated[int, Field(ge=1, le=3, multiple_of=1)], Literal[1, 2, 3]),
        (list[str | None], list[str]),
        (list[int], set[int]),
        (tuple[int, str], tuple[int, str]),
        (dict[str, float], dict[str, int]),
        (dict[str, Any], Cat),
        (dict[Annotated[str, Field(pattern="^a")], Cat], dict[Annotated[str, Field(pattern="^a")], Cat]),
        (dict[Literal["a", "b"], int], dict[Literal["a"], int]),
        (Annotated[Cat | Dog, Field(discriminator="kind")], Annotated[Cat | LoudDog, Field(discriminator="kind")]),
        (Tree, Node),
        (Tree, NamedNode),
    ],
    ids=str,
)
def test_a_reader_takes_the_same_and_less(reads: Any, says: Any) -> None:
    assert found(reads, says) == []


@pytest.mark.parametrize(
    ("reads", "says", "field", "kind"),
    [
        (int, float, "", GapKind.WIDER),
        (int, Any, "", GapKind.WIDER),
        (bool, int, "", GapKind.WIDER),
        (Literal[1], Literal[True], "", GapKind.WIDER),
        (str | bool, Literal["red", 1], "", GapKind.WIDER),
        (str, str | None, "", GapKind.WIDER),
        (UUID4, UUID, "", GapKind.WIDER),
        (date, datetime, "", GapKind.WIDER),
        (Colour, str, "", GapKind.WIDER),
        (Colour, Literal["red", "green"], "", GapKind.WIDER),
        (Annotated[str, Field(max_length=2)], Literal["en", "vie"], "", GapKind.WIDER),
        (Annotated[str, Field(pattern="^[a-z]+$")], Literal["en", "VI"], "", GapKind.WIDER),
        (Annotated[int, Field(gt=0)], Annotated[int, Field(ge=0)], "", GapKind.WIDER),
        (Annotated[float, Field(gt=0)], Annotated[float, Field(ge=0)], "", GapKind.WIDER),
        (Annotated[int, Field(multiple_of=10)], Annotated[int, Field(multiple_of=5)], "", GapKind.WIDER),
        (Annotated[list[int], Field(min_length=1)], list[int], "", GapKind.WIDER),
        (set[int], list[int], "", GapKind.WIDER),
        (list[str], list[str | None], "[]", GapKind.WIDER),
        (tuple[int, int], tuple[int, str], "[1]", GapKind.WIDER),
        (tuple[int, int], tuple[int, ...], "", GapKind.WIDER),
        (dict[str, int], dict[str, int | None], "{}", GapKind.WIDER),
        (dict[str, int], Cat, "{}", GapKind.WIDER),
        (dict[Annotated[str, Field(pattern="^a")], int], dict[str, int], "{}", GapKind.WIDER),
        (dict[Literal["a"], int], dict[Literal["a", "b"], int], "{}", GapKind.WIDER),
        (Cat, dict[str, int], "kind", GapKind.MISSING),
        (
            Annotated[Cat | LoudDog, Field(discriminator="kind")],
            Annotated[Cat | Dog, Field(discriminator="kind")],
            "volume",
            GapKind.MISSING,
        ),
        (NamedNode, Tree, "name", GapKind.MISSING),
    ],
    ids=str,
)
def test_what_a_reader_does_not_take_is_a_gap(reads: Any, says: Any, field: str, kind: GapKind) -> None:
    assert [(gap.field, gap.kind) for gap in found(reads, says)][:1] == [(field, kind)]


class TwoCats(BaseModel):
    first: Cat
    second: Cat


class TwoDogs(BaseModel):
    first: Dog
    second: Dog


def test_a_pair_of_models_is_compared_wherever_it_occurs() -> None:
    """That it is being compared stands for its answer only within itself."""
    fields = {gap.field for gap in found(TwoCats, TwoDogs)}
    assert {"first.lives", "second.lives"} <= fields


def test_a_keyword_that_cannot_be_judged_must_be_equal() -> None:
    odd = {"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 5}}
    assert gaps(reads=odd, says=odd) == []
    assert gaps(reads=odd, says={"type": "array", "items": {"type": "integer"}}) != []


FEW = st.integers(0, 3)
FACETS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "integer": {"minimum": FEW, "exclusiveMaximum": FEW, "multipleOf": st.integers(1, 2)},
    "number": {"exclusiveMinimum": FEW, "maximum": FEW},
    "string": {"minLength": FEW, "maxLength": FEW, "pattern": st.sampled_from(["a", "^b"])},
    "array": {"minItems": FEW, "maxItems": FEW},
}
LEAVES = ["integer", "number", "string", "null", "boolean", "const", "enum"]
SCALARS = st.none() | st.booleans() | st.integers(-1, 4) | st.sampled_from([0.5, 2.5, "", "a", "b", "ab", "bb", "bab"])


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """Schemas of the kinds that pydantic writes."""
    kind = draw(st.sampled_from(LEAVES if depth == 0 else [*LEAVES, "object", "array", "anyOf", "mapping"]))
    inner = schemas(depth=depth - 1)
    if kind == "const":
        return {"const": draw(st.sampled_from([1, "a", True, None]))}
    if kind == "enum":
        return {
            "enum": draw(st.lists(st.sampled_from(["a", "bb", 1, 2, None]), min_size=1, max_size=3, unique_by=repr))
        }
    if kind == "anyOf":
        return {"anyOf": draw(st.lists(inner, min_size=1, max_size=2))}
    if kind == "mapping":
        return {"type": "object", "additionalProperties": draw(inner)}
    schema: dict[str, Any] = {"type": kind}
    schema |= {facet: draw(values) for facet, values in FACETS.get(kind, {}).items() if draw(st.booleans())}
    if kind == "array":
        schema["items"] = draw(inner)
    if kind == "object":
        schema["properties"] = draw(st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2))
        schema["required"] = [name for name in schema["properties"] if draw(st.booleans())]
    return schema


@st.composite
def relatives(draw: st.DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with something changed here and there: the pairs in which a wrong verdict hides."""
    if draw(st.integers(0, 4)) == 0:
        other = draw(schemas(depth=1))
        return draw(st.sampled_from([other, {"anyOf": [schema, other]}, {}]))
    near = dict(schema)
    for facet, values in FACETS.get(schema.get("type", ""), {}).items():
        change = draw(st.sampled_from(["keep", "keep", "drop", "draw"]))
        if change == "draw":
            near[facet] = draw(values)
        elif change == "drop":
            near.pop(facet, None)
    for place in ("items", "additionalProperties"):
        if place in near:
            near[place] = draw(relatives(near[place]))
    if "anyOf" in near:
        near["anyOf"] = [draw(relatives(option)) for option in near["anyOf"]]
    if "properties" in near:
        near["properties"] = {name: draw(relatives(one)) for name, one in near["properties"].items() if draw(FEW) > 0}
        near["required"] = [name for name in near["properties"] if draw(st.booleans())]
    return near


@st.composite
def said(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """A value that is likely to be one of the schema's."""
    if "anyOf" in schema:
        return draw(said(draw(st.sampled_from(schema["anyOf"]))))
    if "const" in schema or "enum" in schema:
        return draw(st.sampled_from(schema.get("enum", [schema.get("const")])))
    if schema.get("type") == "array":
        return [draw(said(schema["items"])) for _ in range(draw(FEW))]
    if schema.get("type") == "object" and "properties" in schema:
        fields = {name: draw(said(one)) for name, one in schema["properties"].items() if draw(FEW) > 0}
        return {**fields, **draw(st.dictionaries(st.sampled_from(["y", "z"]), SCALARS, max_size=1)), **fields}
    if schema.get("type") == "object":
        return {name: draw(said(schema["additionalProperties"])) for name in ("x", "z") if draw(st.booleans())}
    return draw(SCALARS)


@given(data=st.data())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_where_there_is_no_gap_whatever_can_be_said_can_be_read(data: st.DataObject) -> None:
    """An independent validator is the judge."""
    says = data.draw(schemas())
    reads = data.draw(relatives(says))
    if gaps(reads=reads, says=says):
        return
    reader, publisher = Draft202012Validator(reads), Draft202012Validator(says)
    for _ in range(5):
        value = data.draw(said(says))
        assert reader.is_valid(value) or not publisher.is_valid(value), value


@given(schema=schemas())
@settings(max_examples=150, deadline=None)
def test_everything_reads_what_it_says_itself(schema: dict[str, Any]) -> None:
    assert gaps(reads=schema, says=schema) == []
