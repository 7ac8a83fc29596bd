"""The HTTP routes of a service's operator actions, made from their declarations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError, create_model

from service_platform.http import Principal, example_of, problems_of, require

from .action import ActionInput
from .operator import Operator
from .registry import ActionRegistry, AnyAction
from .runner import ActionRunner

SCOPE = "ops"


def operator_routes(actions: ActionRegistry, runner: ActionRunner) -> APIRouter:
    """A route for each action, all under `/ops` and all behind the scope `ops`; the actor is the token's subject.

    What reads is a GET (`/ops/things` for a list, `/ops/things/{id}` for one), what changes a POST
    (`/ops/things/{id}/verb`, or `/ops/things/verb` for many). None creates anything, so none takes an Idempotency-Key:
    what was changed is in another state then, and the same request again is refused with a 409 that says so.
    """
    router = APIRouter(prefix="/ops", tags=["ops"])
    # Fixed paths first, or `/ops/things/{id}` would take `/ops/things/backlog` for its own.
    for action in sorted(actions, key=lambda action: action.of is not None):
        router.add_api_route(
            path_of(action),
            _endpoint(action, runner),
            methods=[method_of(action)],
            name=action.name,
            operation_id="ops_" + action.name.replace(" ", "_").replace("-", "_"),
            summary=action.summary("en"),
            description=action.detail("en"),
            response_model=action.result,
            responses={
                200: {"content": {"application/json": {"example": dict(action.example)}}},
                **problems_of(*action.refusals),
            },
        )
    return router


def method_of(action: AnyAction) -> str:
    """POST for what changes something, GET for what only reads."""
    return "POST" if action.changes else "GET"


def path_of(action: AnyAction) -> str:
    """Where an action is, below `/ops`."""
    one = f"/{{{action.of}}}" if action.of is not None else ""
    implied = not action.changes and action.verb == ("show" if one else "list")
    return f"/{action.things}{one}" + ("" if implied else f"/{action.verb}")


def _endpoint(action: AnyAction, runner: ActionRunner) -> Callable[..., Awaitable[BaseModel]]:
    given_in = "body" if action.changes else "query"
    rest = _without(action.input, action.of)

    async def endpoint(principal: Principal, **arguments: Any) -> BaseModel:
        fields = dict(arguments.pop("given", ()))  # pydantic's way to list the fields and their values
        given = _validated(action.input, fields | arguments, given_in)
        return await runner.run(action, given, Operator(principal.subject, "http"))

    parameters = {"principal": Annotated[Principal, require(SCOPE)]}
    if action.of is not None:
        field = action.input.model_fields[action.of]
        parameters[action.of] = Annotated[field.annotation, Path(description=field.description)]
    if rest.model_fields:
        where = Body(openapi_examples=_examples(rest)) if action.changes else Query()
        parameters["given"] = Annotated[rest, where]
    endpoint.__signature__ = Signature(  # type: ignore[attr-defined]  # what FastAPI reads a route's parameters from
        [Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind) for name, kind in parameters.items()]
    )
    return endpoint


def _without(model: type[ActionInput], field: str | None) -> type[ActionInput]:
    """`model` with all fields but one, which stands in the path."""
    if field is None:
        return model
    rest: dict[str, Any] = {name: (info.annotation, info) for name, info in model.model_fields.items() if name != field}
    return create_model(f"{model.__name__}Body", __base__=ActionInput, __doc__=model.__doc__, **rest)


def _examples(model: type[ActionInput]) -> dict[str, Any]:
    return {"example": {"value": example_of(model)}}


def _validated(model: type[ActionInput], fields: Mapping[str, Any], given_in: str) -> ActionInput:
    """The action's whole input: rules over several fields are checked here, and answered as those over one."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise RequestValidationError(
            [{**entry, "loc": (given_in, *entry["loc"])} for entry in error.errors(include_url=False)]
        ) from error
