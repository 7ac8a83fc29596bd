"""An operator action called in each of its forms, with answers that can be compared."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from http_lab import app_with, bearer, client_of
from ticks_lab import OPERATIONS

from service_platform.database import Database
from service_platform.errors import DomainError
from service_platform.ops import Action, ActionRunner, Operator
from service_platform.ops.command import EXIT_REFUSED, run_command
from service_platform.ops.options import flag_of
from service_platform.ops.routes import method_of, operator_routes, path_of
from service_platform.settings import ServiceSettings
from world.logs import log_plainly
from world.service_process import service_environment

AnyAction = Action[Any, Any]
Form = Literal["function", "command", "http"]
FORMS: tuple[Form, ...] = get_args(Form)

ACTOR = "tester"


@dataclass(frozen=True)
class Answer:
    """What an action answered: `done` and its result, or the slug of its refusal."""

    outcome: str
    result: Any = None


class Forms:
    """Calls actions on one database."""

    def __init__(self, database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._database = database
        self._folder = folder
        self._monkeypatch = monkeypatch

    async def call(self, form: Form, action: AnyAction, given: Mapping[str, Any]) -> Answer:
        """Call `action` with the input `given` (JSON values) in this form."""
        match form:
            case "function":
                return await self._function(action, given)
            case "command":
                return await asyncio.to_thread(self._command, action, given)
            case "http":
                return await self._http(action, given)

    async def _function(self, action: AnyAction, given: Mapping[str, Any]) -> Answer:
        runner = ActionRunner(self._database, "order")
        try:
            result = await runner.run(action, action.input.model_validate(given), Operator(ACTOR, "function"))
        except DomainError as error:
            return Answer(error.slug)
        return Answer("done", result.model_dump(mode="json"))

    async def _http(self, action: AnyAction, given: Mapping[str, Any]) -> Answer:
        app = app_with(self._folder, operator_routes(OPERATIONS, ActionRunner(self._database, "order")))
        rest = {name: value for name, value in given.items() if name != action.of and value is not None}
        path = f"/ops{path_of(action)}".format_map(given)
        method = method_of(action)
        async with client_of(app, headers=bearer(scope="ops", sub=ACTOR)) as client:
            sent = {"json": rest} if method == "POST" else {"params": rest}
            answer = await client.request(method, path, **sent)
        assert answer.status_code in {200, 404, 409}, answer.text
        return Answer("done", answer.json()) if answer.status_code == 200 else Answer(answer.json()["type"])

    def _command(self, action: AnyAction, given: Mapping[str, Any]) -> Answer:
        words = [*action.name.split(" "), "--json", "--actor", ACTOR]
        for name, value in given.items():
            if name == action.of:
                words.append(str(value))
            elif value is not None and value is not False:
                words += [flag_of(name, action.of)] + ([] if value is True else [str(value)])
        for name, value in service_environment("order", self._database.address).items():
            self._monkeypatch.setenv(name, value)
        self._monkeypatch.setattr(sys, "argv", ["ops", *words])
        with _own_output() as (out, err), pytest.raises(SystemExit) as exited:
            run_command("ops", ServiceSettings, OPERATIONS)
        if exited.value.code == EXIT_REFUSED:
            return Answer(json.loads(_written(err))["type"])
        assert not exited.value.code, _written(err)
        return Answer("done", json.loads(_written(out)))


@contextlib.contextmanager
def _own_output() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Standard output and error of a process within the block, and the logging that it sets up undone after it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield out, err
    finally:
        log_plainly()
        root.handlers = handlers
        root.setLevel(level)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
