"""The suite's own modules as the rules see them. Tests are not among them: they may look inside."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from rules import Breach

PLATFORM: Final = "service_platform"
_ROOTS: Final = ("platform/src", "services/*/src", "infra")


@dataclass(frozen=True)
class Import:
    """One imported thing: `module` is absolute; `name` is what is taken from it, None for `import module`."""

    module: str
    name: str | None
    alias: str | None
    line: int


@dataclass(frozen=True)
class Source:
    """A module: its `path` in the repository, its dotted `name`, its text."""

    path: str
    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """All of its syntax tree; walked once for all rules, since that is where their time goes."""
        return list(ast.walk(self.tree))

    @property
    def is_package(self) -> bool:
        """Whether it is an `__init__`, which is the surface of its package."""
        return self.path.endswith("/__init__.py")

    @property
    def is_of_a_service(self) -> bool:
        return self.path.startswith("services/")

    @property
    def part(self) -> str:
        """The part of a service that it belongs to: domain, api, reactors …; empty outside of services."""
        names = self.name.split(".")
        return names[1] if self.is_of_a_service and len(names) > 1 else ""

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[2]

    def lies_in(self, package: str) -> bool:
        """Whether it is `package` or in it."""
        return f"{self.name}.".startswith(f"{package}.")

    def at(self, node: ast.AST) -> str:
        """Where a breach is, as editors open it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"

    @cached_property
    def imports(self) -> Sequence[Import]:
        """Everything that it imports, wherever in the file."""
        return list(self._imports())

    def _imports(self) -> Iterator[Import]:
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    yield Import(name.name, None, name.asname, node.lineno)
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    yield Import(self._absolute(node), name.name, name.asname, node.lineno)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        above = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        above = above[: len(above) - node.level + 1]
        return ".".join([*above, node.module] if node.module else above)

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names in its `__all__`."""
        for node in self.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts) | ast.Tuple(elts)):
                    return frozenset(str(element.value) for element in elts if isinstance(element, ast.Constant))
        return frozenset()


Sources = Sequence[Source]
Rule = Callable[[Sources], Iterator[Breach]]


def read_sources(root: Path) -> list[Source]:
    """The modules of the platform, the services and the tools around them, under the repository's `root`."""
    found = []
    for pattern in _ROOTS:
        for folder in sorted(root.glob(pattern)):
            for file in sorted(folder.rglob("*.py")):
                inside = file.relative_to(folder)
                if "tests" not in inside.parts:
                    path = file.relative_to(root).as_posix()
                    found.append(Source(path, name_of(inside), file.read_text(encoding="utf-8")))
    return found


def name_of(path: Path) -> str:
    """The dotted name of the module at `path`, which is relative to where its packages lie."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def services(sources: Sources) -> Iterator[Source]:
    """Those of the services."""
    yield from (source for source in sources if source.is_of_a_service)


def deployed(sources: Sources) -> Iterator[Source]:
    """Those of the services and the platform: what runs in production, and what is copied."""
    yield from (source for source in sources if source.is_of_a_service or source.lies_in(PLATFORM))
