"""Whether the process lives, whether it can work, and its numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from sqlalchemy import text
from starlette.responses import JSONResponse, Response

from service_platform.database import Database
from service_platform.telemetry import get_logger

from .access import public
from .log_events import HttpLogEvent

ReadyCheck = Callable[[], Awaitable[None]]
"""Returns when the thing answers, raises when it does not. It is given 2 seconds."""

_CHECK_SECONDS = 2.0

_log = get_logger()


def database_answers(database: Database) -> ReadyCheck:
    """A check that the service's database answers a query."""

    async def check() -> None:
        async with database.read() as session:
            await session.execute(text("SELECT 1"))

    return check


def health_router(checks: Mapping[str, ReadyCheck]) -> APIRouter:
    """`/health/live`, `/health/ready` with `checks` by name, `/metrics`."""
    router = APIRouter(include_in_schema=False, dependencies=[public("probes carry no token")])

    @router.get("/health/live")
    async def live() -> Response:
        return JSONResponse({"status": "live"})

    @router.get("/health/ready")
    async def ready() -> Response:
        answers = dict(zip(checks, await asyncio.gather(*map(_state, checks, checks.values())), strict=True))
        good = all(answer == "ok" for answer in answers.values())
        return JSONResponse({"status": "ready" if good else "not ready", "checks": answers}, 200 if good else 503)

    @router.get("/metrics")
    async def metrics() -> Response:
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)

    return router


async def _state(name: str, check: ReadyCheck) -> str:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            await check()
    except Exception as error:  # noqa: BLE001 - whatever is wrong, the answer is "failed" and the log says why
        _log.warning(HttpLogEvent.NOT_READY, check=name, reason=repr(error))
        return "failed"
    return "ok"
