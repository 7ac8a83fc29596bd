"""Running a tick's job because somebody says so, beside its schedule."""

from __future__ import annotations

from typing import Any, ClassVar, Final
from uuid import UUID

from sqlalchemy import text

from service_platform.database import Transaction
from service_platform.errors import Conflict, NotFound
from service_platform.messages import Catalogue

from .cron import minute_text
from .firing import lock_name
from .tick import Tick

MESSAGES: Final = Catalogue(
    {
        "tick-unknown": {
            "en": "This service has no such tick",
            "vi": "Dịch vụ này không có tick như vậy",
        },
        "tick-unknown.detail": {
            "en": "There is no tick {tick} here. List the ticks and take a name from there.",
            "vi": "Ở đây không có tick {tick}. Hãy liệt kê các tick và lấy tên từ đó.",
        },
        "tick-asked-for": {
            "en": "A run of this tick was asked for in this minute already",
            "vi": "Tick này đã được yêu cầu chạy trong phút này rồi",
        },
        "tick-asked-for.detail": {
            "en": "Job {job_id} is that run: look what came of it. From the next minute on, another can be asked for.",
            "vi": "Công việc {job_id} là lần chạy đó: hãy xem kết quả. Từ phút sau có thể yêu cầu một lần chạy khác.",
        },
    }
)

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_NOW = text("SELECT platform_now()")
_JOB = text("SELECT id FROM job WHERE job_key = :key")


class TickUnknown(NotFound, messages=MESSAGES):
    """No tick of the service has this name."""

    slug = "tick-unknown"
    example: ClassVar = {"tick": "expire-orders"}


class TickAskedFor(Conflict, messages=MESSAGES):
    """One run a minute can be asked for, so that a repeated call does not run twice."""

    slug = "tick-asked-for"
    example: ClassVar = {"tick": "expire-orders", "job_id": "3f0a9d52-7c41-4f6b-8a1e-2b9c0d4e5f60"}


async def run_now(tick: Tick[Any], tx: Transaction) -> UUID:
    """Enqueue one job of `tick` beside its schedule, which it does not change; the job's id.

    Its key is `tick:<name>:now:<minute>`, so it is not the run of any due minute, and both may happen. Raises
    `TickAskedFor` for a second call in one minute. Waits while a replica fires the tick.
    """
    await tx.session.execute(_LOCK, {"name": lock_name(tick)})
    now = (await tx.session.execute(_NOW)).scalar_one()
    key = f"tick:{tick.name}:now:{minute_text(now)}"
    asked_for = (await tx.session.execute(_JOB, {"key": key})).scalar_one_or_none()
    if asked_for is not None:
        raise TickAskedFor(tick=tick.name, job_id=str(asked_for))
    return await tick.kind.enqueue(tick.payload, tx, key=key)
