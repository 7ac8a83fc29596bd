"""Doors turn what comes in into one call of the domain."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from rules import Breach

from .shapes import Function, bases, calls, classes, functions, keyword, last_name, methods, opens, parameters
from .sources import PLATFORM, Rule, Source, Sources, services

DOORS: Final = frozenset({"api", "reactors", "jobs", "ticks", "operations"})

_INNER: Final = ("sqlalchemy", f"{PLATFORM}.database", f"{PLATFORM}.outbox", f"{PLATFORM}.inbox")
_MORE: Final = frozenset({"transaction", "autocommit", "execute", "scalars", "gather", "as_completed"})
_BRANCHES: Final = (ast.If, ast.Match, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.AsyncWith)
_ROUTES: Final = frozenset({"get", "post", "put", "patch", "delete", "api_route"})
_FOLDER: Final = {"Consumer": "reactors", "Step": "jobs", "FencedProcessor": "jobs"}


def doors_are_thin(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        if source.part not in DOORS:
            continue
        for found in source.imports:
            if any(f"{found.module}.".startswith(f"{inner}.") for inner in _INNER) or found.name == "EventBus":
                yield Breach(
                    f"{source.path}:{found.line}",
                    f"a door imports {found.name or found.module} of {found.module}",
                    "Move what needs it into a method of the domain service or the queries, and call that.",
                )
        for function in _entries(source):
            for node in ast.walk(function):
                if isinstance(node, _BRANCHES) or (isinstance(node, ast.Call) and _is_more(node)):
                    yield Breach(
                        source.at(node),
                        f"{function.name} decides or does more than one thing",
                        "Let the domain do it in one method: a door turns what comes in into one command, no more.",
                    )


def a_consumer_makes_one_call_with_its_claim(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        claiming = {function.name for function in functions(source.nodes) if _gives_claim(function)}
        for node, function in _of_part(source, "reactors", "handle"):
            yield from _one_call(source, node, function)
            if not _gives_claim(function) and claiming.isdisjoint(name for name, _ in calls(function)):
                yield Breach(
                    source.at(function),
                    f"{node.name} does not pass the delivery's claim on",
                    "Give the command `claim=delivery.claim`: it makes the second delivery of an event change nothing.",
                )


def a_step_makes_one_call_with_its_fence(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        fencing = {function.name for function in functions(source.nodes) if _makes_fence(function)}
        for node, function in _of_part(source, "jobs", "run"):
            yield from _one_call(source, node, function)
            if not _makes_fence(function) and fencing.isdisjoint(name for name, _ in calls(function)):
                yield Breach(
                    source.at(function),
                    f"{node.name} does not pass its fence on",
                    "Give the command `fence=run.fence(self.name)`: a run that lost its job stops before it writes.",
                )


def jobs_are_processors_and_steps(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        if source.part != "jobs":
            continue
        for node in classes(source.tree):
            if not {"FencedProcessor", "Step"} & set(bases(node)):
                yield Breach(
                    source.at(node),
                    f"{node.name} is neither a FencedProcessor nor a Step",
                    "Extend FencedProcessor[Payload] and give it its Steps; payloads and kinds stand in the domain.",
                )


def a_door_stands_in_its_folder(sources: Sources) -> Iterator[Breach]:
    """There the rules for doors look at it."""
    for source in services(sources):
        for node in classes(source.tree):
            for base in bases(node):
                folder = _FOLDER.get(base, source.part)
                if source.part != folder:
                    yield Breach(
                        source.at(node),
                        f"{node.name} is a {base} outside of {folder}/",
                        f"Put it into {folder}/, where it turns what comes in into one call of the domain.",
                    )


def a_creating_post_claims_its_key(sources: Sources) -> Iterator[Breach]:
    aliases = {name for source in services(sources) for name in _names_of_a_claim(source)}
    for source in services(sources):
        for function in functions(source.nodes):
            creates = any(
                isinstance(made, ast.Call) and last_name(made.func) == "post" and _status_of(made) == "201"
                for made in function.decorator_list
            )
            kinds = [ast.unparse(given.annotation) for given in parameters(function) if given.annotation is not None]
            if creates and not any("IdempotencyClaim" in kind or kind in aliases for kind in kinds):
                yield Breach(
                    source.at(function),
                    f"{function.name} creates something again whenever it is asked again",
                    "Take `claim: Annotated[IdempotencyClaim, idempotency(…)]` and give it to the command as "
                    "`idempotency`.",
                )


def _names_of_a_claim(source: Source) -> Iterator[str]:
    """`Once`, of `Once = Annotated[IdempotencyClaim, idempotency(…)]`."""
    for node in source.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as kind) if (
                "IdempotencyClaim" in ast.unparse(kind)
            ):
                yield name


def _status_of(route: ast.Call) -> str:
    status = keyword(route, "status_code")
    return "" if status is None else ast.unparse(status).removeprefix("status.HTTP_")[:3]


def _entries(source: Source) -> Iterator[Function]:
    """What the platform calls: coroutines, and routes that are none. A plain function translates, and may branch."""
    for function in functions(source.nodes):
        decorators = {last_name(decorator) for decorator in function.decorator_list}
        if isinstance(function, ast.AsyncFunctionDef) or decorators & _ROUTES:
            yield function


def _is_more(call: ast.Call) -> bool:
    name = last_name(call.func)
    return name in _MORE or opens(name, call)


def _of_part(source: Source, part: str, method: str) -> Iterator[tuple[ast.ClassDef, Function]]:
    """That method of every class in the part, whatever it extends."""
    if source.part == part:
        for node in classes(source.tree):
            yield from ((node, function) for function in methods(node) if function.name == method)


def _one_call(source: Source, node: ast.ClassDef, function: Function) -> Iterator[Breach]:
    awaited = [found for found in ast.walk(function) if isinstance(found, ast.Await)]
    if len(awaited) != 1:
        yield Breach(
            source.at(function),
            f"{node.name} makes {len(awaited)} calls",
            "Make one method of the domain of them, in one transaction; what must be apart is a consumer or a step of "
            "its own.",
        )


def _gives_claim(function: Function) -> bool:
    given = [value for _, call in calls(function) for value in [*call.args, keyword(call, "claim")]]
    return any(isinstance(value, ast.Attribute) and value.attr == "claim" for value in given)


def _makes_fence(function: Function) -> bool:
    return any(name == "fence" for name, _ in calls(function))


RULES: Final[tuple[Rule, ...]] = (
    doors_are_thin,
    a_consumer_makes_one_call_with_its_claim,
    a_step_makes_one_call_with_its_fence,
    jobs_are_processors_and_steps,
    a_door_stands_in_its_folder,
    a_creating_post_claims_its_key,
)
