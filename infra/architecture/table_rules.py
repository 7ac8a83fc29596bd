"""Who may touch which table, and how many connections a use case has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from rules import Breach

from .shapes import calls, is_own, last_name, methods_that, opens, texts
from .sources import PLATFORM, Rule, Source, Sources, deployed, services

_CREATES = re.compile(r"\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)")
_CLOCK: Final = f"{PLATFORM}.database.schema"
_CLOCK_FUNCTIONS: Final = frozenset({
    "now", "current_timestamp", "current_date", "localtimestamp", "clock_timestamp", "statement_timestamp",
    "transaction_timestamp",
})  # fmt: skip
_OTHER_CLOCKS = re.compile(r"(?<!\w)(now|\w+_timestamp)\(\)|\b(CURRENT_(TIMESTAMP|DATE|TIME)|LOCALTIMESTAMP)\b")
_TOUCHES = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN)\s+([a-z_]+)\b(?!\()", re.IGNORECASE)

READERS: Final = {
    (f"{PLATFORM}.ticks", "job"): "an operator sees a tick and the job of its last run in one snapshot",
    (f"{PLATFORM}.event_bus", "inbox"): "a consumer takes no partition before it can reach its ledger",
}
"""Modules of the platform that read a table of another one by themselves, and why. Nobody else writes it."""


def a_table_has_one_owner(sources: Sources) -> Iterator[Breach]:
    """In a service its capability, in the platform the module whose schema creates it."""
    owners = {name: owner for source in sources if source.lies_in(PLATFORM) for name, owner in _created(source)}
    capabilities: dict[tuple[str, str], str] = {}
    for source in services(sources):
        service, mine = source.name.split(".")[0], _owner(source)
        for name, node in _declared(source):
            owner = capabilities.setdefault((service, name), mine)
            if name in owners or owner != mine:
                yield _foreign(source, node, name, owners.get(name, owner))
    for source in deployed(sources):
        service, mine = source.name.split(".")[0], _owner(source)
        for text, node in [*texts(source.nodes), *_lightly_declared(source)]:
            for does, name in _TOUCHES.findall(text):
                owner = owners.get(name) or capabilities.get((service, name), mine)
                may_read = does.upper() in {"FROM", "JOIN"} and (mine, name) in READERS
                if owner != mine and not may_read:
                    yield _foreign(source, node, name, owner)


def _foreign(source: Source, node: ast.AST, name: str, owner: str) -> Breach:
    return Breach(
        source.at(node),
        f"it touches {name}, a table of {owner}",
        f"Ask {owner} by a function of its surface; write one there if it has none.",
    )


def _owner(source: Source) -> str:
    names = source.name.split(".")
    return ".".join(names[:3] if source.part == "domain" else names[:2])


def _created(source: Source) -> Iterator[tuple[str, str]]:
    for text, _ in texts(source.nodes):
        for name in _CREATES.findall(text):
            yield name, _owner(source)


def _declared(source: Source) -> Iterator[tuple[str, ast.AST]]:
    for name, call in calls(source.nodes):
        if name == "Table" and call.args and isinstance(call.args[0], ast.Constant):
            yield str(call.args[0].value), call
    for node in source.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id="__tablename__")], value=ast.Constant(value=str(name))):
                yield name, node


def sql_reads_the_platforms_clock(sources: Sources) -> Iterator[Breach]:
    for source in deployed(sources):
        if source.name == _CLOCK:
            continue
        written = [node for text, node in texts(source.nodes) if _OTHER_CLOCKS.search(text)]
        called = [
            call
            for name, call in calls(source.nodes)
            if name in _CLOCK_FUNCTIONS and ast.unparse(call.func).split(".")[-2:-1] == ["func"]
        ]
        for node in [*written, *called]:
            yield Breach(
                source.at(node),
                "it reads a clock of PostgreSQL's own",
                "Use platform_now(): it does not stand still in a transaction, and a test can move it.",
            )


def _lightly_declared(source: Source) -> Iterator[tuple[str, ast.AST]]:
    """`sqlalchemy.table("orders")`, which names a table that somebody else declares, as the text it becomes."""
    takes_it = any((found.module, found.name) == ("sqlalchemy", "table") for found in source.imports)
    for name, call in calls(source.nodes) if takes_it else ():
        match call.args:
            case [ast.Constant(value=str(table)), *_] if name == "table":
                yield f"FROM {table}", call


def a_transaction_touches_one_connection(sources: Sources) -> Iterator[Breach]:
    """What is opened beside it counts: in one `async with`, within it, and in a method of the module that it calls."""
    for source in deployed(sources):
        opening = methods_that(opens, source.tree)
        for node in source.nodes:
            if not isinstance(node, ast.AsyncWith):
                continue
            items = [call for item in node.items for name, call in calls(item.context_expr) if opens(name, call)]
            inside = [found for line in node.body for found in calls(line)] if items else []
            others = [call for name, call in inside if opens(name, call) or (name in opening and is_own(call))]
            for call in [*items[1:], *others]:
                yield Breach(
                    source.at(call),
                    f"it opens another connection by {last_name(call.func)}() while it holds one",
                    "Read by tx.session: another connection does not see what this one wrote, and two for one use case "
                    "exhaust the pool.",
                )


RULES: Final[tuple[Rule, ...]] = (
    a_table_has_one_owner,
    a_transaction_touches_one_connection,
    sql_reads_the_platforms_clock,
)
