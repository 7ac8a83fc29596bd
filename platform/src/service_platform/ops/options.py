"""Options of a command from the fields of an input model, for typer to read."""

from __future__ import annotations

from datetime import datetime
from inspect import Parameter
from typing import Annotated, Any, Final, Literal, get_args, get_origin
from uuid import UUID

import typer
from pydantic.fields import FieldInfo

from .action import ActionInput

OWN_OPTIONS: Final = (
    Parameter(
        "actor",
        Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            str | None,
            typer.Option("--actor", metavar="NAME", help="Who acts, for the audit. Else the user of the system."),
        ],
    ),
    Parameter(
        "json",
        Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")],
    ),
)
"""What every action's command has beside its input's fields."""

_METAVARS: dict[Any, str] = {UUID: "UUID", datetime: "TIME", int: "NUMBER"}


def options_of(model: type[ActionInput], of: str | None) -> list[Parameter]:
    """A parameter for each field: the one named `of` is the command's argument, the others are options.

    All but flags are texts: the model reads them, so that both doors accept and refuse the same.
    """
    taken = {option.name for option in OWN_OPTIONS} & model.model_fields.keys()
    if taken:
        raise TypeError(f"{model.__name__} has fields named as options of every command, {sorted(taken)}: rename them")
    return [_parameter(name, field, is_argument=name == of) for name, field in model.model_fields.items()]


def flag_of(field: str, of: str | None) -> str:
    """How a field is called on the command line."""
    return field.upper() if field == of else f"--{field.replace('_', '-')}"


def _parameter(name: str, field: FieldInfo, *, is_argument: bool) -> Parameter:
    text = f"{field.description}{_example(field)}"
    default: Any = Parameter.empty if field.is_required() else None
    if is_argument:
        annotation: Any = Annotated[str, typer.Argument(help=text, metavar=name.upper())]
    elif field.annotation is bool:
        default, annotation = False, Annotated[bool, typer.Option(flag_of(name, None), help=text)]
    else:
        if not field.is_required() and field.default is not None:
            text += f" (default: {field.default})"
        option = typer.Option(flag_of(name, None), help=text, metavar=_metavar(field.annotation))
        annotation = Annotated[str if field.is_required() else str | None, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _metavar(annotation: Any) -> str:
    kinds = [kind for kind in (get_args(annotation) or (annotation,)) if kind is not type(None)]
    if get_origin(annotation) is Literal:
        return "|".join(map(str, kinds))
    kind = kinds[0]
    return _metavar(kind) if get_origin(kind) is not None else _METAVARS.get(kind, "TEXT")


def _example(field: FieldInfo) -> str:
    return f", such as {field.examples[0]}" if field.examples else ""
