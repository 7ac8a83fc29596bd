"""What a service is made of stands in one place: its settings, its parts, its transactions, its way out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from rules import Breach

from .shapes import bases, calls, classes, functions, last_name, methods, methods_that
from .sources import PLATFORM, Rule, Source, Sources, deployed, services

ENVIRONMENT: Final = {
    f"{PLATFORM}.settings": "reads it once, typed, secrets also from a file",
    f"{PLATFORM}.ops.command": "the terminal's language",
    f"{PLATFORM}.telemetry.healthcheck": "runs in a container beside the process, without its settings",
    f"{PLATFORM}.contracts": "a tool of the repository",
}
"""Modules that read the environment, and why."""

_MADE_ONCE: Final = ("Settings", "Service", "Queries", "Client", "Database", "EventBus", "FastAPI")
_ENDINGS: Final = frozenset({"close", "aclose"})


def settings_have_one_place(sources: Sources) -> Iterator[Breach]:
    for source in deployed(sources):
        for node in source.nodes:
            match node:
                case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "getenv" as word):
                    yield from _read(source, node, word)
                case ast.ImportFrom(module="os", names=names):
                    for name in names:
                        if name.name in {"environ", "getenv"}:
                            yield from _read(source, node, name.name)
        for node in classes(source.tree) if source.is_of_a_service and source.part != "settings" else ():
            if any(base.endswith("Settings") for base in bases(node)):
                yield Breach(
                    source.at(node),
                    f"{node.name} is a second settings object",
                    "Add its fields to the service's Settings in settings.py; bootstrap passes on the values.",
                )


def _read(source: Source, node: ast.AST, word: str) -> Iterator[Breach]:
    if not any(source.lies_in(module) for module in ENVIRONMENT):
        yield Breach(
            source.at(node),
            f"it reads the environment by {word}",
            "Add a typed field to the service's Settings and take its value as an argument: what is missing or wrong "
            "then ends the start, and a secret may come from a file.",
        )


def nothing_is_built_at_import(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        for node in source.tree.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            made = node.value
            if isinstance(made, ast.Call) and last_name(made.func).endswith(_MADE_ONCE):
                yield Breach(
                    source.at(node),
                    f"{last_name(made.func)}() is built at import",
                    "Build it in bootstrap and pass it in: a test has other parts, and a forked worker needs its own.",
                )


def every_door_is_composed(sources: Sources) -> Iterator[Breach]:
    """A consumer, a processor or a router that bootstrap does not name is never run, and nothing else would say so."""
    composed = {source.name.split(".")[0]: source for source in services(sources) if source.stem == "bootstrap"}
    for source in services(sources):
        root = composed.get(source.name.split(".")[0])
        named = {last_name(node) for node in root.nodes} if root is not None else set()
        for door in _doors(source):
            if door.name not in named:
                yield Breach(
                    source.at(door),
                    f"{door.name} is not composed",
                    "Name it in bootstrap.py, in build_api, build_consumer or build_processors.",
                )


def _doors(source: Source) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    if source.part in {"reactors", "jobs"}:
        yield from (node for node in classes(source.tree) if {"Consumer", "FencedProcessor"} & set(bases(node)))
    if source.part == "api":
        yield from (found for found in functions(source.tree.body) if found.name.endswith("_router"))


def a_domain_service_opens_and_ends_the_transaction(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        is_service = source.part == "domain" and not source.stem.endswith(("table", "tables"))
        for name, call in calls(source.nodes):
            if name in {"transaction", "autocommit"} and not is_service:
                yield Breach(
                    source.at(call),
                    f"{name}() outside of a domain service",
                    "Open it in the method that is the use case, and hand `tx` on: what one use case changes is one "
                    "transaction.",
                )
            elif name in {"commit", "rollback"} and isinstance(call.func, ast.Attribute):
                yield Breach(
                    source.at(call),
                    f"a {name} by hand",
                    "The block of `self._database.transaction(…)` commits at its end, after events and jobs are "
                    "written; an error that leaves it rolls back.",
                )


def an_adapter_refuses_a_transaction(sources: Sources) -> Iterator[Breach]:
    """Each call that an adapter offers, by itself or by what it calls in its module."""
    for source in services(sources):
        if source.part != "integrations":
            continue
        refusing = _refusing(source)
        for node in classes(source.tree):
            for method in methods(node):
                is_call = isinstance(method, ast.AsyncFunctionDef) and not method.name.startswith("_")
                if is_call and method.name not in refusing | _ENDINGS:
                    yield Breach(
                        source.at(method),
                        f"{node.name}.{method.name} may be called inside a transaction",
                        'Begin it with `forbid_in_transaction("<whom it calls>: <what for>")` of '
                        "service_platform.database: it would hold locks for as long as a stranger likes.",
                    )


def _refusing(source: Source) -> frozenset[str]:
    """The functions and methods of a module that refuse to be called inside a transaction."""
    found = {
        function.name
        for function in functions(source.tree.body)
        if any(name == "forbid_in_transaction" for name, _ in calls(function))
    }

    def refuses(name: str, _: ast.Call) -> bool:
        return name == "forbid_in_transaction" or name in found

    return methods_that(refuses, source.tree) | found


RULES: Final[tuple[Rule, ...]] = (
    settings_have_one_place,
    nothing_is_built_at_import,
    every_door_is_composed,
    a_domain_service_opens_and_ends_the_transaction,
    an_adapter_refuses_a_transaction,
)
