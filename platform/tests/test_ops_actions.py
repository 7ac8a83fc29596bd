"""Every action of the platform, in each of its forms: a new one is tested here by being listed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_lab import app_with
from ledger_lab import Owner
from ops_forms import ACTOR, FORMS, AnyAction, Form, Forms
from ops_plants import PLANTS
from pydantic import BaseModel
from ticks_lab import OPERATIONS, at, show

from service_platform.database import Database
from service_platform.errors import Conflict, DomainError
from service_platform.http import example_of
from service_platform.messages import LANGUAGES
from service_platform.ops import ActionRunner, BulkAction
from service_platform.ops.operations import LIST_AUDIT
from service_platform.ops.routes import operator_routes
from service_platform.pagination import Page

ALL = list(OPERATIONS)
CHANGING = [action for action in ALL if action.changes]

each_action = pytest.mark.parametrize("action", ALL, ids=lambda action: action.name)


@pytest.fixture
def forms(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Forms:
    return Forms(database, tmp_path, monkeypatch)


async def audited(owner: Owner) -> list[tuple[str, str, str, str]]:
    rows = await owner.fetch("SELECT actor, via, action, outcome FROM operator_audit ORDER BY at, id")
    return [tuple(row) for row in rows]


@each_action
async def test_the_three_forms_take_the_same_answer_the_same_and_are_audited(
    action: AnyAction, forms: Forms, owner: Owner
) -> None:
    given = example_of(action.input)
    await show(owner, at("12:00:00"), rate=1)  # no minute passes between the answers, which may say when the next is
    answers = [await forms.call(form, action, given) for form in FORMS]
    assert answers[0] == answers[1] == answers[2]
    outcome = "done" if answers[0].outcome == "done" else "refused"
    assert (action.of is None) == (outcome == "done"), "nothing is planted: a list is empty, one thing is not found"
    assert await audited(owner) == [(ACTOR, form, action.name, outcome) for form in FORMS]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("action", CHANGING, ids=lambda action: action.name)
async def test_a_change_is_made_once_and_the_same_call_again_changes_nothing(
    action: AnyAction, form: Form, forms: Forms, database: Database, owner: Owner
) -> None:
    assert action.name in PLANTS, f"ops_plants.py lacks what {action.name!r} acts on: plant it there"
    given = await PLANTS[action.name](database, owner)
    first = await forms.call(form, action, given)
    assert first.outcome == "done"
    before = await audited(owner)
    again = await forms.call(form, action, given)
    if isinstance(action, BulkAction):
        assert [item["fate"] for item in first.result["items"]] == ["done"]
        assert again.result["items"] == []
        assert before == [(ACTOR, form, action.name, "done"), (ACTOR, form, action.each.name, "done")]
        return
    assert again.outcome in {refusal.slug for refusal in action.refusals if issubclass(refusal, Conflict)}
    assert before == [(ACTOR, form, action.name, "done")]
    assert await audited(owner) == [*before, (ACTOR, form, action.name, "refused")]


@each_action
def test_an_action_and_its_refusals_speak_every_language(action: AnyAction) -> None:
    for language in LANGUAGES:
        for text in (action.group(language), action.summary(language), action.detail(language)):
            assert text.strip()
        assert not action.summary(language).endswith("."), "a summary is a line of a list"
        assert action.detail(language).endswith(".")
    for refusal in action.refusals:
        assert issubclass(refusal, DomainError)
        assert len({refusal.title(language) for language in LANGUAGES}) == len(LANGUAGES)


@each_action
def test_a_refusal_says_what_to_do_next(action: AnyAction) -> None:
    for refusal in action.refusals:
        assert f"{refusal.slug}.detail" in refusal._messages, f"{refusal.__name__} says no more than its title"


@each_action
def test_an_input_is_bounded_described_and_exemplified(action: AnyAction) -> None:
    properties = action.input.model_json_schema()["properties"] if action.input.model_fields else {}
    for name, schema in properties.items():
        assert schema.get("description"), f"{name} needs a description: it is the help of the command"
        for kind in schema.get("anyOf", [schema]):
            is_bounded = {"maxLength", "maximum", "format", "enum"} & kind.keys()
            assert kind.get("type") in {"boolean", "null"} or is_bounded or "$ref" in kind, f"{name} is not bounded"


@each_action
def test_an_action_shows_columns_that_its_rows_have(action: AnyAction) -> None:
    assert set(action.columns) <= row_of(action.result).model_fields.keys()


def row_of(result: type[BaseModel]) -> type[BaseModel]:
    """The model of a row of a page or of a bulk result; a single record is its own."""
    if "items" not in result.model_fields:
        return result
    item: Any = result.model_fields["items"].annotation
    (row,) = item.__args__
    return row if issubclass(result, Page) else row.model_fields["row"].annotation


def test_each_action_has_a_route_with_an_example_and_no_route_lacks_the_scope(
    database: Database, tmp_path: Path
) -> None:

    document = app_with(tmp_path, operator_routes(OPERATIONS, ActionRunner(database, "order"))).openapi()
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    assert {operation["operationId"] for operation in operations} == {
        "ops_" + action.name.replace(" ", "_").replace("-", "_") for action in ALL
    }
    for operation in operations:
        assert operation["security"] == [{"bearer": ["ops"]}]
        assert operation["responses"]["200"]["content"]["application/json"]["example"]
        body = operation.get("requestBody", {"content": {"application/json": {"examples": True}}})
        assert body["content"]["application/json"]["examples"]


def test_a_name_stands_for_one_action() -> None:
    with pytest.raises(ValueError, match="two operator actions are named 'audit list'"):
        OPERATIONS.with_own(replace(LIST_AUDIT))
