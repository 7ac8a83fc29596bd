"""Reading shapes in a syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Code: TypeAlias = ast.AST | Sequence[ast.AST]
"""A piece of a module, or all nodes of it that somebody has walked already."""

_DATABASE = re.compile(r"database|db\b")


def last_name(node: ast.AST) -> str:
    """`x.y.z` and `z` are both z; of `Z[T]` and `Z(...)` it is Z; anything else is empty."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return last_name(inner)
    return ""


def nodes_of(code: Code) -> Iterable[ast.AST]:
    """Every node of `code`."""
    return ast.walk(code) if isinstance(code, ast.AST) else code


def calls(code: Code) -> Iterator[tuple[str, ast.Call]]:
    """Every call in `code`, with the last name of what is called."""
    for found in nodes_of(code):
        if isinstance(found, ast.Call):
            yield last_name(found.func), found


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes of a module."""
    yield from (node for node in tree.body if isinstance(node, ast.ClassDef))


def bases(node: ast.ClassDef) -> list[str]:
    """The names of what a class extends."""
    return [last_name(base) for base in node.bases]


def methods(node: ast.ClassDef) -> Iterator[Function]:
    """The methods of a class."""
    yield from (found for found in node.body if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef))


def functions(code: Code) -> Iterator[Function]:
    """Every function in `code`, nested ones too."""
    yield from (found for found in nodes_of(code) if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef))


def methods_that(does: Callable[[str, ast.Call], bool], tree: ast.Module) -> frozenset[str]:
    """The methods of a module's classes that make such a call, or call one of their own that does."""
    own = [method for node in classes(tree) for method in methods(node)]
    found = {method.name for method in own if any(does(name, call) for name, call in calls(method))}
    while more := {
        method.name
        for method in own
        if method.name not in found and any(name in found and is_own(call) for name, call in calls(method))
    }:
        found |= more
    return frozenset(found)


def is_own(call: ast.Call) -> bool:
    """Whether it calls a method of the object itself."""
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self"


def opens(name: str, call: ast.Call) -> bool:
    """Whether it opens a connection of what is named like a database."""
    return name in {"read", "transaction", "autocommit"} and _DATABASE.search(ast.unparse(call.func)) is not None


def parameters(function: Function) -> list[ast.arg]:
    """What a function takes, by place or by name."""
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """What a call gives as `name`."""
    return next((given.value for given in call.keywords if given.arg == name), None)


def texts(code: Code) -> Iterator[tuple[str, ast.AST]]:
    """Every text in `code` that is not a docstring; of an f-string its fixed pieces, joined by `{}`."""
    aside: set[int] = set()
    for found in nodes_of(code):  # what holds a text comes before it
        if id(found) in aside:
            continue
        match found:
            case ast.Expr(value=ast.Constant() as told):
                aside.add(id(told))
            case ast.JoinedStr(values=pieces):
                aside.update(map(id, pieces))
                yield "".join(str(piece.value) if isinstance(piece, ast.Constant) else "{}" for piece in pieces), found
            case ast.Constant(value=str(text)):
                yield text, found
