"""A problem's example has the names that every raise of it has, so the documents show what callers really get."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from contract_writer.openapi import application
from native.layout import ROOT
from native.topology import SERVICES
from service_platform.errors import DomainError
from service_platform.messages import LANGUAGES

SOURCES = [ROOT / "platform" / "src", *(ROOT / "services" / service / "src" for service in SERVICES)]


def raised() -> Iterator[tuple[str, str, set[str]]]:
    """Each call that makes an error by keyword: where, the class, and the names of its facts."""
    for path in (path for folder in SOURCES for path in sorted(folder.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
                names = {keyword.arg or "**" for keyword in call.keywords}
                yield f"{_shown(path)}:{node.lineno}", call.func.id, names
            elif isinstance(call, ast.Name):
                yield f"{_shown(path)}:{node.lineno}", call.id, set()


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def errors() -> dict[str, type[DomainError]]:
    """Every error with a slug, by its class's name. Building the applications imports them all."""
    for service in SERVICES:
        application(service)
    waiting, found = [DomainError], {}
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if "slug" in vars(kind) and kind.__module__.split(".")[0] in {
            "service_platform",
            *(f"{s}_service" for s in SERVICES),
        }:
            found[kind.__name__] = kind
    return found


def test_an_example_has_the_facts_of_every_raise() -> None:
    known = errors()
    differ = [
        f"{where}: {name} is raised with {sorted(facts)}, its example has {sorted(known[name].example)}"
        for where, name, facts in raised()
        if name in known and "__init__" not in vars(known[name]) and facts != set(known[name].example)
    ]
    assert {name for _, name, _ in raised()} & known.keys(), "errors are raised somewhere"
    assert differ == []


def test_every_problem_speaks_both_languages_and_fills_its_sentences() -> None:
    for name, error in errors().items():
        titles = {error.title(language) for language in LANGUAGES}
        details = {error.detail_of(error.example, language) for language in LANGUAGES}
        assert len(titles) == len(LANGUAGES), f"{name} has one title for all languages"
        assert details == {None} or len(details) == len(LANGUAGES), f"{name} has one detail for all languages"
        assert not any("{" in text for text in (*titles, *details) if text), name


@pytest.mark.parametrize("service", SERVICES)
def test_every_answer_of_every_operation_has_an_example_that_fits_its_schema(service: str) -> None:
    document = application(service).openapi()
    wrong = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            contents = {"body": operation.get("requestBody", {})} | operation["responses"]
            for status, content in contents.items():
                where = f"{method.upper()} {path} {status}"
                resolved = _resolved(content, document)
                for media_type, described in resolved.get("content", {}).items():
                    if "json" in media_type:
                        wrong += [f"{where}: {reason}" for reason in _misfits(described, document)]
                if status != "204" and content and "content" not in resolved:
                    wrong.append(f"{where}: says nothing of its content")
    assert wrong == []


def _resolved(answer: dict[str, object], document: dict[str, object]) -> dict[str, object]:
    reference = str(answer.get("$ref", ""))
    return document["components"]["responses"][reference.rpartition("/")[2]] if reference else answer


def _misfits(described: dict[str, object], document: dict[str, object]) -> list[str]:
    named = {name: example["value"] for name, example in described.get("examples", {}).items()}
    examples = named | ({"example": described["example"]} if "example" in described else {})
    if not examples:
        return ["has no example"]
    schema = described["schema"] | {"components": document["components"]}
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return [f"{name}: {error.message}" for name, value in examples.items() for error in validator.iter_errors(value)]
