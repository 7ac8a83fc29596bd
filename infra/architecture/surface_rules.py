"""What a package shows, and what others take of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from rules import Breach

from .shapes import last_name
from .sources import PLATFORM, Import, Rule, Source, Sources, services

SIDE_DOORS: Final = {
    f"{PLATFORM}.jobs.worker": "loads Celery, which only a worker needs",
    f"{PLATFORM}.ops.command": "loads the command line, which only operators need",
    f"{PLATFORM}.ops.routes": "loads FastAPI, which only the API needs",
    f"{PLATFORM}.database.migrations": "loads Alembic, which only a migration needs",
    f"{PLATFORM}.database.schema": "loads Alembic, which only a migration needs",
}
"""Modules that stand beside the surface of their package, since what they load is more than most processes need."""

SIDE_DOOR_NAMES: Final = frozenset({"operations", "schema"})
"""Modules of these names in a platform module are side doors too: its operator actions, its migration steps."""

STANDS_IN: Final = f"{PLATFORM}.testing"
"""Stands in for the database, so it knows its parts."""

_ONE_NAME: Final = "Give it its good name where it is defined, and export it under that: one thing, one name."


def a_package_is_imported_through_its_surface(sources: Sources) -> Iterator[Breach]:
    packages = {source.name: source for source in sources if source.is_package}
    modules = {source.name for source in sources}
    for source in sources:
        for found in source.imports:
            target = _module_of(found, packages, modules)
            unit = _unit(target, packages)
            if target in {unit, ""} or source.lies_in(unit) or _is_a_side_door(target) or source.lies_in(STANDS_IN):
                continue
            yield Breach(
                f"{source.path}:{found.line}",
                f"it reaches into {unit} for {target}",
                f"Write `from {unit} import …`; what is not in the `__all__` there is its own affair. If others need "
                "it, export it there.",
            )


def _module_of(found: Import, packages: dict[str, Source], modules: set[str]) -> str:
    """The module that is loaded: `from a import b` loads a.b where that is a module that a does not export."""
    inner = f"{found.module}.{found.name}"
    package = packages.get(found.module)
    if found.name and inner in modules and (package is None or found.name not in package.exported):
        return inner
    return found.module


def _unit(target: str, packages: dict[str, Source]) -> str:
    """The package whose surface stands before `target`, or `target` itself where none does."""
    names = target.split(".")
    if names[0] != PLATFORM and not names[0].endswith("_service"):
        return target
    has_packages = names[1:2] == ["domain"] or (names[1:2] == ["events"] and ".".join(names[:3]) in packages)
    depth = 3 if has_packages else 2
    unit = ".".join(names[:depth])
    return unit if unit in packages and packages[unit].exported else target


def _is_a_side_door(target: str) -> bool:
    of_platform = target.startswith(f"{PLATFORM}.")
    return target in SIDE_DOORS or (of_platform and target.rpartition(".")[2] in SIDE_DOOR_NAMES)


def nothing_is_exported_by_star_or_by_another_name(sources: Sources) -> Iterator[Breach]:
    for source in sources:
        for found in source.imports:
            where = f"{source.path}:{found.line}"
            if found.name == "*":
                yield Breach(where, f"a star import of {found.module}", "Name what you take: a reader searches for it.")
            elif source.is_package and found.alias is not None and found.alias in source.exported:
                yield Breach(
                    where,
                    f"{found.name or found.module} is exported as {found.alias}",
                    _ONE_NAME,
                )
        for node in source.tree.body if source.is_package else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as thing) if (
                    name in source.exported
                ):
                    yield Breach(source.at(node), f"{ast.unparse(thing)} is exported as {name}", _ONE_NAME)


def no_table_leaves_its_capability(sources: Sources) -> Iterator[Breach]:
    tables = {f"{source.name}.{name}" for source in services(sources) for name in _tables(source)}
    for source in services(sources):
        if source.part == "domain" and source.is_package:
            for found in source.imports:
                if f"{found.module}.{found.name}" in tables and {found.name, found.alias} & source.exported:
                    yield Breach(
                        f"{source.path}:{found.line}",
                        f"{source.name} exports its table {found.name}",
                        "Export a query, or a method of the domain service, that does what the other one wants.",
                    )
        for found in source.imports:
            if (
                ".domain." in found.module
                and (found.name or "").endswith("Table")
                and source.stem != "bootstrap"
                and not source.lies_in(".".join(found.module.split(".")[:3]))
            ):
                yield Breach(
                    f"{source.path}:{found.line}",
                    f"a {source.part or 'module'} takes {found.name}, which writes a capability's rows",
                    "Call the domain service or its queries; only bootstrap puts tables and services together.",
                )


def _tables(source: Source) -> Iterator[str]:
    """The names under which a module holds tables: `x = Table(…)`, or a class with `__tablename__`."""
    for node in source.tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=made))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=made))
            ) if last_name(made) == "Table":
                yield name
            case ast.ClassDef(name=name, body=body) if any(
                isinstance(line, ast.Assign) and [last_name(target) for target in line.targets] == ["__tablename__"]
                for line in body
            ):
                yield name


RULES: Final[tuple[Rule, ...]] = (
    a_package_is_imported_through_its_surface,
    nothing_is_exported_by_star_or_by_another_name,
    no_table_leaves_its_capability,
)
