"""Who tells, and who only reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from rules import Breach

from .shapes import calls
from .sources import Rule, Source, Sources, services

READING: Final = frozenset({"queries", "views", "reading"})
"""Modules of a capability that only read."""

_WRITES: Final = frozenset({"insert", "update", "delete", "transaction"})


def only_a_domain_service_tells(sources: Sources) -> Iterator[Breach]:
    """Publishing and enqueueing; that it is given the transaction is in their types."""
    for source in services(sources):
        told_by_table = source.stem in READING or source.stem.endswith("table")
        if source.part == "domain" and not told_by_table:
            continue
        for name, call in calls(source.nodes):
            if _tells(name, call):
                yield Breach(
                    source.at(call),
                    f"{name}() outside of a domain service",
                    "Move it into the domain service's method, in the transaction that makes it true: told apart from "
                    "that, it is told of what never happened, or not at all.",
                )


def _tells(name: str, call: ast.Call) -> bool:
    is_append = name == "append" and ast.unparse(call.func) == "outbox.append"
    return is_append or name in {"publish", "enqueue"} or name.startswith("enqueue_")


def queries_write_nothing(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        if source.part != "domain":
            continue
        for node in _reading_parts(source):
            for name, call in calls(node):
                if name in _WRITES:
                    yield Breach(
                        source.at(call),
                        f"{name}() where only reading is done",
                        "Read by `async with self._database.read() as session`; what writes is a method of the domain "
                        "service.",
                    )


def _reading_parts(source: Source) -> Iterator[ast.AST]:
    if source.stem in READING:
        yield source.tree
        return
    yield from (node for node in source.tree.body if isinstance(node, ast.ClassDef) and node.name.endswith("Queries"))


RULES: Final[tuple[Rule, ...]] = (only_a_domain_service_tells, queries_write_nothing)
