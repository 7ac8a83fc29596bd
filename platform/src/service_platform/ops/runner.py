"""Running an action: its transaction, its audit row, its log line."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel
from sqlalchemy import text

from service_platform.database import Database, Transaction
from service_platform.errors import DomainError, storable
from service_platform.pagination import Page
from service_platform.telemetry import correlation_id, correlation_scope, get_logger

from .action import Action, ActionContext, InputT, ResultT
from .audit import Call, Outcome, record
from .bulk import BulkAction, BulkItem, BulkResult, Fate
from .log_events import OpsLogEvent
from .operator import Operator

_READ_ONLY = text("SET TRANSACTION READ ONLY")

_log = get_logger()


class ActionRunner:
    """Runs operator actions on the database of `service`: the function of each, which its other forms call.

    An action that is done commits together with its audit row: there is no change without one, and nothing is shown
    without one either. A refused or failed call leaves nothing but its audit row. That row is written in a transaction
    of its own after the rollback, unless the database is away, which the log says then.

    `outside` is what the service's own actions work with beside the transaction, such as a domain service that can
    ask a provider. The platform's actions need none.
    """

    def __init__(self, database: Database, service: str, *, outside: object = None) -> None:
        self._database = database
        self._service = service
        self._outside = outside

    async def run(self, action: Action[InputT, ResultT], given: InputT, operator: Operator) -> ResultT:
        """Do what `action` says, on behalf of `operator`. Raises the action's refusals.

        A bulk action that is applied does not raise for one of its things: what became of each is its result.
        """
        with correlation_scope(correlation_id()) as correlation:
            result = await self._call(action, given, operator, correlation)
            if isinstance(action, BulkAction) and isinstance(result, BulkResult) and getattr(given, "apply", False):
                items = [item async for item in self._done(action, result, operator, correlation)]
                return result.model_copy(update={"applied": True, "items": items})
            return result

    async def _call(
        self, action: Action[InputT, ResultT], given: InputT, operator: Operator, correlation: str
    ) -> ResultT:
        call = Call(operator, action.name, given.model_dump(mode="json", exclude_none=True), correlation)
        try:
            seen = await action.look(given, self._outside) if action.look is not None else None
            async with self._database.transaction() as tx:
                async with contextlib.nullcontext() if _writes(action) else _reading(tx):
                    result = await action.run(given, ActionContext(tx, self._service, self._outside, seen))
                await record(call, "done", _told(result), tx)
        except DomainError as error:
            await self._record_failure(call, "refused", str(error))
            raise
        except Exception as error:
            await self._record_failure(call, "failed", first_line(error))
            raise
        _log.info(OpsLogEvent.ACTION_DONE, action=action.name, actor=operator.actor, via=operator.via)
        return result

    async def _done(
        self, action: BulkAction[Any, Any], found: BulkResult[Any], operator: Operator, correlation: str
    ) -> AsyncIterator[BulkItem[Any]]:
        """Each thing and what became of it. An error that is no refusal ends it: it would meet the next one too."""
        failed = False
        for item in found.items:
            fate: Fate = "not_tried" if failed else "done"
            reason = None
            if not failed:
                try:
                    await self._call(action.each, action.each_input(item.row), operator, correlation)
                except DomainError as error:
                    fate, reason = "refused", error.slug
                except Exception as error:  # noqa: BLE001 - recorded and logged; what was done before it must be told
                    failed, fate, reason = True, "failed", first_line(error)
            yield item.model_copy(update={"fate": fate, "reason": reason})

    async def _record_failure(self, call: Call, outcome: Outcome, detail: str) -> None:
        fields = {"action": call.action, "actor": call.operator.actor, "via": call.operator.via, "detail": detail}
        if outcome == "refused":
            _log.info(OpsLogEvent.ACTION_REFUSED, **fields)
        else:
            _log.exception(OpsLogEvent.ACTION_FAILED, **fields)
        try:
            async with self._database.transaction() as tx:
                await record(call, outcome, detail, tx)
        except Exception:  # noqa: BLE001 - the caller is told why the action failed, not why that was not recorded
            _log.exception(OpsLogEvent.AUDIT_FAILED, **fields)


def _writes(action: Action[Any, Any]) -> bool:
    """Whether the action's own transaction changes anything; that of a bulk action only finds."""
    return action.changes and not isinstance(action, BulkAction)


@contextlib.asynccontextmanager
async def _reading(tx: Transaction) -> AsyncIterator[None]:
    """Within the block the server refuses every write; after it the transaction can write its audit row."""
    async with tx.session.begin_nested():
        await tx.session.execute(_READ_ONLY)
        yield
        await tx.flush_parts()


def _told(result: BaseModel) -> str:
    match result:
        case Page():
            return f"{len(result.items)} items"
        case BulkResult():
            return f"{len(result.items)} found"
        case _:
            return ""


def first_line(error: Exception) -> str:
    """Enough to know the error again; the lines after the first one may hold a statement with its values."""
    lines = str(error).splitlines()
    return storable(f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__)
