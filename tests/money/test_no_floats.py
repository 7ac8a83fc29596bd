"""Money is whole minor units from the request to the printed page: no float can stand in its way.

A number that is no money (seconds in settings and adapters, points on a page) may be a float; where, is said here.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Float, Numeric

from billing_service.domain.invoices import metadata as billing_tables
from native.layout import ROOT
from native.topology import SERVICES
from order_service.domain.orders import metadata as order_tables
from payment_service.domain.payments import metadata as payment_tables

SCANNED = ("domain", "events", "api", "reactors", "jobs", "ticks")
"""The folders of a service that money passes through; adapters and settings hold seconds, and pass integers on."""

GEOMETRY = {"credit_note_pdf.py", "drawing.py", "fonts.py", "invoice_pdf.py", "pages.py", "sheet.py"}
"""Files of billing that place texts on a page; the texts of amounts come from formats.py, which is scanned."""

_FLOATING = {"float", "round", "complex"}


def floats_in(source: str) -> Iterator[tuple[int, str]]:
    """Where a float can come from: its name, a number with a point, a division, rounding."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=float()):
                yield node.lineno, f"the number {node.value}"
            case ast.Name(id=name) if name in _FLOATING:
                yield node.lineno, name
            case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()):
                yield node.lineno, "a division: use // and say how it rounds"
            case ast.Constant(value=str(text)) if "double precision" in text or "::float" in text or "::real" in text:
                yield node.lineno, "a float in SQL"


def test_no_code_that_money_passes_through_knows_a_float() -> None:
    scanned = [
        path
        for service in SERVICES
        for folder in SCANNED
        for path in sorted((ROOT / "services" / service / "src" / f"{service}_service" / folder).rglob("*.py"))
        if path.name not in GEOMETRY
    ]
    assert len(scanned) > 50
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in scanned
        for line, what in floats_in(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    ["total = 0.1", "x: float", "part = total / 3", "total /= 2", "int(round(x))", "q = 'x::float8'"],
)
def test_the_scan_sees_a_float(planted: str) -> None:
    assert list(floats_in(planted))


@pytest.mark.parametrize("tables", [order_tables, payment_tables, billing_tables], ids=["order", "payment", "billing"])
def test_no_column_holds_anything_but_whole_numbers(tables: Any) -> None:
    columns = [column for table in tables.tables.values() for column in table.columns]
    assert [str(column) for column in columns if isinstance(column.type, Float | Numeric)] == []
    assert any(column.name.endswith("_minor") for column in columns)


def amounts_in(schema: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Each property that is an amount or a rate, with its schema."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        for name, described in (properties if isinstance(properties, dict) else {}).items():
            if name.endswith(("_minor", "_bp")):
                yield f"{where}/{name}", described
        for name, below in schema.items():
            yield from amounts_in(below, f"{where}/{name}")
    elif isinstance(schema, list):
        for index, below in enumerate(schema):
            yield from amounts_in(below, f"{where}/{index}")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "contracts").glob("*/*.json")), ids=lambda path: "/".join(path.parts[-2:])
)
def test_every_amount_in_a_contract_is_an_integer(path: Path) -> None:
    amounts = list(amounts_in(json.loads(path.read_text(encoding="utf-8"))))
    assert amounts or path.name == "events.json"
    kinds = {where: {described.get("type"), *(one.get("type") for one in described.get("anyOf", []))} - {None, "null"}
             for where, described in amounts}  # fmt: skip
    assert {where for where, kind in kinds.items() if kind != {"integer"}} == set()
