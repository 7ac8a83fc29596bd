"""The operators' command of a service, made from the actions' declarations: `python -m <service>.main.ops`."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from inspect import Signature
from typing import Any, NoReturn

import orjson
import typer
from pydantic import BaseModel, ValidationError

from service_platform.database import Database, is_transient
from service_platform.errors import DomainError
from service_platform.messages import Language, negotiate
from service_platform.settings import ServiceSettings, load
from service_platform.telemetry import configure_logging

from .action import ActionInput
from .bulk import BulkResult
from .messages import MESSAGES
from .operator import Operator
from .options import OWN_OPTIONS, flag_of, options_of
from .registry import ActionRegistry, AnyAction
from .runner import ActionRunner, first_line
from .table import printable, show

EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_FAILED = 70  # EX_SOFTWARE of sysexits.h
EXIT_DATABASE_AWAY = 75  # EX_TEMPFAIL: the same call may succeed later

CONNECTIONS = 2
_FATES_WITHOUT_COMPLAINT = {"found", "done"}

Opening = Callable[[Any, Database], AbstractAsyncContextManager[object]]
"""Opens the runner's `outside` of one call, from the service's settings and its database."""


def run_command(
    program: str, settings_class: type[ServiceSettings], actions: ActionRegistry, *, outside: Opening | None = None
) -> NoReturn:
    """Do what the command line says and exit.

    Exits 0 when it was done; 1 when it was refused, wholly or in part; 2 when the command line is not usable; 70 when
    it failed; 75 when the database is away; 78 when the settings are wrong. `--json` prints one JSON document, whose
    names are those of the HTTP API, and a refusal as a problem on standard error. People are spoken to in the language
    of their terminal.
    """
    language = _language()
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    groups: dict[str, typer.Typer] = {}
    for action in actions:
        if action.things not in groups:
            groups[action.things] = typer.Typer(no_args_is_help=True, help=action.group(language))
            app.add_typer(groups[action.things], name=action.things)
        groups[action.things].command(
            action.verb,
            help=f"{action.summary(language)}.\n\n{action.detail(language)}",
            short_help=action.summary(language),
        )(_Call(program, settings_class, action, language, outside).as_function())
    app(prog_name=program)
    sys.exit(0)


class _Call:
    """One action on the command line."""

    def __init__(
        self,
        program: str,
        settings_class: type[ServiceSettings],
        action: AnyAction,
        language: Language,
        outside: Opening | None,
    ) -> None:
        self._program = program
        self._settings_class = settings_class
        self._action = action
        self._language = language
        self._outside = outside

    def as_function(self) -> Callable[..., None]:
        """What typer reads the options from: one for each field of the input, and those that every action has."""

        def command(*, actor: str | None, json: bool, **words: Any) -> None:
            self._run({name: word for name, word in words.items() if word not in (None, False)}, actor, as_json=json)

        command.__signature__ = Signature(  # type: ignore[attr-defined]
            [*options_of(self._action.input, self._action.of), *OWN_OPTIONS]
        )
        return command

    def _run(self, words: Mapping[str, Any], actor: str | None, *, as_json: bool) -> None:
        given, operator = self._given(words), self._operator(actor)
        settings = load(self._settings_class)
        # What happens is told below; whoever wants to read it as a log asks for it.
        level = "DEBUG" if settings.log_level == "DEBUG" else "CRITICAL"
        configure_logging(settings.service_name, "ops", level=level, secrets=settings.secret_values(), to=sys.stderr)
        try:
            result = asyncio.run(_run_once(settings, self._action, given, operator, self._outside))
        except DomainError as error:
            self._refuse(error, as_json=as_json)
        except Exception as error:  # noqa: BLE001 - recorded by the runner; the exit code says which kind it was
            self._fail(error, settings)
        if as_json:
            print(result.model_dump_json(indent=2))
        else:
            show(result, self._action.columns, self._language)
        if isinstance(result, BulkResult) and any(item.fate not in _FATES_WITHOUT_COMPLAINT for item in result.items):
            raise typer.Exit(EXIT_REFUSED)

    def _given(self, words: Mapping[str, Any]) -> ActionInput:
        model: type[ActionInput] = self._action.input
        try:
            return model.model_validate(words)
        except ValidationError as error:
            wrong = [
                f"  {flag_of(str(entry['loc'][0]), self._action.of) + ': ' if entry['loc'] else ''}{entry['msg']}"
                for entry in error.errors(include_url=False)
            ]
            self._misuse(*wrong)

    def _operator(self, actor: str | None) -> Operator:
        try:
            return Operator(actor if actor is not None else getpass.getuser(), "command")
        except ValueError as error:
            self._misuse(f"  --actor: {error}")
        except (OSError, KeyError, ImportError):  # which one depends on the Python version and the platform
            self._misuse(f"  {self._text('no-actor')}")

    def _misuse(self, *wrong: str) -> NoReturn:
        help_is_at = self._text("see-help", command=f"{self._program} {self._action.name}")
        self._complain(EXIT_USAGE, self._text("not-usable"), *wrong, help_is_at)

    def _refuse(self, error: DomainError, *, as_json: bool) -> NoReturn:
        title, detail = error.title(self._language), error.detail(self._language)
        if as_json:
            problem = {"type": error.slug, "title": title, "detail": detail} | error.facts
            self._complain(EXIT_REFUSED, orjson.dumps(problem, default=str).decode())
        self._complain(EXIT_REFUSED, *filter(None, (title, detail)))

    def _fail(self, error: Exception, settings: ServiceSettings) -> NoReturn:
        reason = first_line(error)
        if is_transient(error):
            address = f"{settings.database_host}:{settings.database_port}"
            self._complain(EXIT_DATABASE_AWAY, self._text("database-away", address=address, reason=reason))
        self._complain(EXIT_FAILED, self._text("failed", reason=reason))

    def _text(self, key: str, **values: str) -> str:
        return MESSAGES.text(key, self._language, **values)

    def _complain(self, code: int, *lines: str) -> NoReturn:
        for line in lines:
            print(printable(line), file=sys.stderr)
        raise typer.Exit(code)


async def _run_once(
    settings: ServiceSettings, action: AnyAction, given: ActionInput, operator: Operator, outside: Opening | None
) -> BaseModel:
    database = Database(
        settings.database_address(), application_name=f"{settings.service_name} ops", pool_size=CONNECTIONS
    )
    try:
        async with nullcontext() if outside is None else outside(settings, database) as opened:
            runner = ActionRunner(database, settings.service_name, outside=opened)
            result: BaseModel = await runner.run(action, given, operator)
        return result
    finally:
        await database.close()


def _language() -> Language:
    """The language of the terminal, after POSIX: the first of these that is set."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return negotiate(locale.split(".")[0].replace("_", "-"))
