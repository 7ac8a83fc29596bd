"""Who tells, and who only reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from rules import Breach

from .shapes import bases, calls, classes, is_own, last_name, methods, methods_that, parameters
from .sources import Rule, Source, Sources, services

READING: Final = frozenset({"queries", "views", "reading"})
"""Modules of a capability that only read."""

_STATEMENTS: Final = frozenset({"insert", "update", "delete"})
_SQL: Final = frozenset({"sa", "sqlalchemy", "postgresql", "session"})


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
    """What tells takes a transaction beside what it tells; a use case of such a name takes its command alone."""
    is_append = name == "append" and ast.unparse(call.func) == "outbox.append"
    is_named_so = name in {"publish", "enqueue"} or name.startswith("enqueue_")
    return is_append or (is_named_so and len(call.args) + len(call.keywords) > 1)


def queries_write_nothing(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        if source.part != "domain":
            continue
        for node in _reading_parts(source):
            for name, call in calls(node):
                if name == "transaction" or (name in _STATEMENTS and not _is_of_a_collection(call)):
                    yield Breach(
                        source.at(call),
                        f"{name}() where only reading is done",
                        "Read by `async with self._database.read() as session`; what writes is a method of the domain "
                        "service.",
                    )


def _is_of_a_collection(call: ast.Call) -> bool:
    """`counts.update(more)`; a statement is `update(orders)`, `sa.update(orders)` or `orders.update()`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    return bool(call.args or call.keywords) and last_name(call.func.value) not in _SQL


def _reading_parts(source: Source) -> Iterator[ast.AST]:
    if source.stem in READING:
        yield source.tree
        return
    yield from (node for node in source.tree.body if isinstance(node, ast.ClassDef) and node.name.endswith("Queries"))


def nothing_outside_is_called_in_a_transaction(sources: Sources) -> Iterator[Breach]:
    """By a port, which is a Protocol of the domain with coroutines, or by a method of the module that uses one."""
    domain = [source for source in services(sources) if source.part == "domain"]
    ports = {node.name for source in domain for node in classes(source.tree) if _is_a_port(node)}
    for source in domain:
        held = {name for node in classes(source.tree) for name in _held(node, ports)}

        def reaches(_: str, call: ast.Call, held: frozenset[str] = frozenset(held)) -> bool:
            return any(isinstance(found, ast.Attribute) and ast.unparse(found) in held for found in ast.walk(call))

        reaching = methods_that(reaches, source.tree)
        for node in source.nodes:
            if isinstance(node, ast.AsyncWith) and any(
                last_name(item.context_expr) == "transaction" for item in node.items
            ):
                for line in node.body:
                    for name, call in calls(line):
                        if reaches(name, call) or (name in reaching and is_own(call)):
                            yield Breach(
                                source.at(call),
                                f"{name}() calls the outside while a transaction is open",
                                "Commit, call, and record the answer in a transaction that begins with the same claim: "
                                "the call would hold its locks, and outlive its rollback.",
                            )


def _is_a_port(node: ast.ClassDef) -> bool:
    """What takes the transaction is a part of it."""
    outside = (
        method
        for method in methods(node)
        if isinstance(method, ast.AsyncFunctionDef) and all(given.arg != "tx" for given in parameters(method))
    )
    return "Protocol" in bases(node) and any(outside)


def _held(node: ast.ClassDef, ports: set[str]) -> Iterator[str]:
    """`self._mailer`, where `__init__` puts a Mailer there."""
    for method in methods(node):
        given = {each.arg for each in parameters(method) if each.annotation and last_name(each.annotation) in ports}
        for line in method.body:
            match line:
                case ast.Assign(targets=[ast.Attribute() as target], value=ast.Name(id=name)) if name in given:
                    yield ast.unparse(target)


RULES: Final[tuple[Rule, ...]] = (
    only_a_domain_service_tells,
    queries_write_nothing,
    nothing_outside_is_called_in_a_transaction,
)
