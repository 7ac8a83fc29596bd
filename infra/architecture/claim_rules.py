"""What holds around a claim: the inbox's, an Idempotency-Key's, a job's fence."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from rules import Breach

from .shapes import Function, bases, calls, classes, functions, is_own, keyword, last_name, methods_that, parameters
from .sources import PLATFORM, Rule, Source, Sources, services

TYPES: Final = {"claim": "Claim", "fence": "Claim", "idempotency": "IdempotencyClaim", "run_key": "RunKey"}
"""The names by which a command holds them, and their types."""

_CLAIMS: Final = frozenset({"claim", "fence", "idempotency"})
_REFUSALS: Final = frozenset({"ClaimRefused", "DeliveryRefused", "AlreadyAnswered", "JobFencedOut"})
_TRY_AGAIN: Final = frozenset({"retry", "retrying", "on_exception", "on_predicate"})
_WAYS_ROUND: Final = "Take the command's own type through to where it is used; only a claim makes a Fence or a RunKey."


def a_claim_comes_first(sources: Sources) -> Iterator[Breach]:
    """Each transaction of a method that has a claim, by itself or in its command, begins with it."""
    claimed = _commands_with_a_claim(sources)
    for source in _domain(sources):
        for function in functions(source.nodes):
            held = _claims_held(source, function, claimed)
            if not held:
                continue
            for name, call in calls(function):
                if name == "transaction" and keyword(call, "claim") is None:
                    yield Breach(
                        source.at(call),
                        f"{function.name} opens a transaction without the claim that it has",
                        f"Write `self._database.transaction(claim={held[0]})`: without it, what comes twice, or from a "
                        "run that lost its job, takes effect.",
                    )


def a_claim_is_used(sources: Sources) -> Iterator[Breach]:
    claimed = _commands_with_a_claim(sources)
    for source in _domain(sources):
        for function in functions(source.nodes):
            if isinstance(function, ast.FunctionDef):
                continue  # it can begin no transaction
            if function.name.startswith("_") or any(given.arg == "tx" for given in parameters(function)):
                continue  # a part of a use case, whose transaction another one has begun
            for held in _claims_held(source, function, claimed):
                if not _uses(function, held):
                    yield Breach(
                        source.at(function),
                        f"{function.name} never uses {held}",
                        f"Begin its transaction with it: `self._database.transaction(claim={held})`.",
                    )


def nothing_catches_around_a_fenced_write(sources: Sources) -> Iterator[Breach]:
    """A refused claim leaves through every caller, up to the platform, which knows what it means."""
    for source in _domain(sources):
        yield from _names_a_refusal(source)
        writing = methods_that(_is_fenced, source.tree)
        yield from _tried_again(source, writing)
        for node in source.nodes:
            caught = isinstance(node, ast.Try) and bool(node.handlers)
            if isinstance(node, ast.With | ast.AsyncWith):
                caught = any(last_name(item.context_expr) == "suppress" for item in node.items)
            if not caught:
                continue
            assert isinstance(node, ast.Try | ast.With | ast.AsyncWith)
            for line in node.body:
                for name, call in calls(line):
                    if (name in writing and is_own(call)) or _is_fenced(name, call):
                        yield Breach(
                            source.at(call),
                            f"errors of {name}() are caught around it",
                            "Catch around the call of the provider only, and open the transaction after it: a run that "
                            "lost its job must stop here, and an unknown COMMIT must not be taken for a refusal.",
                        )


def _tried_again(source: Source, writing: frozenset[str]) -> Iterator[Breach]:
    for function in functions(source.nodes):
        decorators = {last_name(decorator) for decorator in function.decorator_list}
        if function.name in writing and decorators & _TRY_AGAIN:
            yield Breach(
                source.at(function),
                f"{function.name} is tried again by a decorator, whatever refused it",
                "Let its errors out: the job comes again after a pause, with a token that is its own.",
            )


def _names_a_refusal(source: Source) -> Iterator[Breach]:
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            for caught in sorted({last_name(found) for found in ast.walk(node.type)} & _REFUSALS):
                yield Breach(
                    source.at(node),
                    f"it catches {caught}",
                    "Let it out: the platform ends the run, answers again or takes the delivery as handled.",
                )


def a_claim_keeps_its_type(sources: Sources) -> Iterator[Breach]:
    for source in services(sources):
        lines = source.text.splitlines()
        for node in source.nodes:
            match node:
                case ast.Call(func=func, args=[kind, value, *_]) if last_name(func) == "cast":
                    if _names_claim(value) or _names_claim_type(kind):
                        yield Breach(source.at(node), f"a cast of {ast.unparse(value)}", _WAYS_ROUND)
                case (
                    ast.arg(arg=name, annotation=ast.expr() as kind)
                    | ast.AnnAssign(target=ast.Name(id=name), annotation=kind)
                ) if source.stem == "commands" and name in TYPES and not _has_type(kind, TYPES[name]):
                    yield Breach(source.at(node), f"{name} is {ast.unparse(kind)} here", _WAYS_ROUND)
        for number, line in enumerate(lines, start=1):
            code, _, comment = line.partition("#")
            if "type: ignore" in comment and any(word in code for word in ("claim", "fence", "run_key", "run.key")):
                yield Breach(f"{source.path}:{number}", "an ignored type error beside a claim", _WAYS_ROUND)


def a_run_key_is_the_key_outside(sources: Sources) -> Iterator[Breach]:
    """What an adapter gives a provider as idempotency key is the run key that it was given."""
    for source in services(sources):
        if source.part != "integrations":
            continue
        for function in functions(source.nodes):
            keys = {
                given.arg
                for given in parameters(function)
                if given.annotation and _has_type(given.annotation, "RunKey")
            }
            keys |= {name for name, value in _named(function) if keys & {last_name(found) for found in ast.walk(value)}}
            for value in _keys_sent(function):
                if keys.isdisjoint(last_name(found) for found in ast.walk(value)):
                    yield Breach(
                        source.at(value),
                        f"{ast.unparse(value)} is sent as idempotency key",
                        "Take `key: RunKey` and send `str(key)`: a key made here is another one at each try, and money "
                        "moves at each.",
                    )


def _named(function: Function) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value


def _keys_sent(function: Function) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.keyword) and node.arg == "idempotency_key":
            yield node.value
        elif isinstance(node, ast.Dict):
            for name, value in zip(node.keys, node.values, strict=True):
                if isinstance(name, ast.Constant) and str(name.value).lower() in {"idempotency_key", "idempotency-key"}:
                    yield value


def _has_type(annotation: ast.expr, kind: str) -> bool:
    return kind in {last_name(node) for node in ast.walk(annotation)} | {getattr(annotation, "value", None)}


def _names_claim(node: ast.expr) -> bool:
    words = {last_name(found) for found in ast.walk(node)}
    return not words.isdisjoint({*TYPES, "key", "token"})


def _names_claim_type(kind: ast.expr) -> bool:
    """Whether the target of a cast, which may be a string, is the type of a claim or of a run key."""
    return any(_has_type(kind, claim) for claim in {*TYPES.values(), "Fence"})


def _domain(sources: Sources) -> Iterator[Source]:
    yield from (source for source in services(sources) if source.part == "domain")
    yield from (source for source in sources if source.lies_in(f"{PLATFORM}.housekeeping"))


def _commands_with_a_claim(sources: Sources) -> Mapping[str, Mapping[str, str]]:
    """By capability: the name of each command that has a claim → the field that is it, also by inheritance."""
    found: dict[str, dict[str, str]] = {}
    for source in _domain(sources):
        commands = found.setdefault(_capability(source), {})
        for node in classes(source.tree):
            for line in node.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.target.id in _CLAIMS:
                    commands[node.name] = line.target.id
            for base in bases(node):
                if base in commands:
                    commands[node.name] = commands[base]
    return found


def _capability(source: Source) -> str:
    return ".".join(source.name.split(".")[:3])


def _claims_held(source: Source, function: Function, claimed: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The claims that a function gets, as it would write them."""
    commands = claimed.get(_capability(source), {})
    held = []
    for parameter in parameters(function):
        kind = last_name(parameter.annotation) if parameter.annotation is not None else ""
        if kind in {"Claim", "IdempotencyClaim"}:
            held.append(parameter.arg)
        elif kind in commands:
            held.append(f"{parameter.arg}.{commands[kind]}")
    return held


def _uses(function: Function, held: str) -> bool:
    """Whether it names the claim, or hands on the whole command."""
    whole, _, field = held.partition(".")
    for node in ast.walk(function):
        if field and isinstance(node, ast.Attribute) and ast.unparse(node) == held:
            return True
        if isinstance(node, ast.Call):
            given = [*node.args, *(pair.value for pair in node.keywords)]
            if any(isinstance(value, ast.Name) and value.id == whole for value in given):
                return True
    return False


def _is_fenced(name: str, call: ast.Call) -> bool:
    return name == "transaction" and keyword(call, "claim") is not None


RULES: Final[tuple[Rule, ...]] = (
    a_claim_comes_first,
    a_claim_is_used,
    nothing_catches_around_a_fenced_write,
    a_claim_keeps_its_type,
    a_run_key_is_the_key_outside,
)
