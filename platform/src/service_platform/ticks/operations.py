"""What operators can see of ticks, and how they have one run now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text

from service_platform.messages import Catalogue
from service_platform.ops import Action, ActionContext, ActionInput
from service_platform.pagination import Page

from .cron import minute_instant
from .run_now import TickAskedFor, TickUnknown, run_now
from .tick import LONGEST_NAME, JobTicks, MissedRuns, Tick

MESSAGES: Final = Catalogue(
    {
        "ticks": {
            "en": "What this service does by the clock",
            "vi": "Những gì dịch vụ này làm theo lịch",
        },
        "ticks list": {
            "en": "List the ticks, with their last and their next minute",
            "vi": "Liệt kê các tick, cùng phút gần nhất và phút kế tiếp",
        },
        "ticks list.detail": {
            "en": "All times are UTC. The last minute without a job was passed over, or its job is purged. A last "
            "minute that stays behind means that no scheduler runs, or that the tick fails: look for jobs.tick.failed "
            "in the scheduler's log.",
            "vi": "Mọi thời điểm là UTC. Phút gần nhất không có công việc nghĩa là đã bị bỏ qua hoặc công việc đã bị "
            "dọn. Nếu phút gần nhất không tiến lên, không có scheduler nào chạy hoặc tick bị lỗi: hãy tìm "
            "jobs.tick.failed trong log của scheduler.",
        },
        "ticks run": {
            "en": "Run one tick's job now, beside its schedule",
            "vi": "Chạy ngay công việc của một tick, ngoài lịch của nó",
        },
        "ticks run.detail": {
            "en": "Enqueues one job with a key of its own; the schedule stays as it is. A second call in the same "
            "minute is refused.",
            "vi": "Đưa một công việc với khóa riêng vào hàng đợi; lịch không đổi. Gọi lần thứ hai trong cùng một phút "
            "sẽ bị từ chối.",
        },
    }
)

_ROWS = text(
    """
    SELECT c.now, t.name, t.minute, j.id AS job_id, j.status
    FROM (SELECT platform_now() AS now) AS c
    LEFT JOIN job_ticks t ON t.name = ANY (:names)
    LEFT JOIN job j ON j.job_key = 'tick:' || t.name || ':' || t.minute
    """
)


class TickRow(BaseModel):
    """A tick: what it starts and when, the newest minute that was claimed for it, its job, and when it is due next.

    `last_minute` is null until a scheduler has seen the tick.
    """

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(examples=["purge-outbox"])]
    cron: Annotated[str, Field(examples=["* * * * *"])]
    job_kind: Annotated[str, Field(examples=["order.purge-outbox"])]
    missed: Annotated[MissedRuns, Field(examples=["skip"])]
    last_minute: Annotated[datetime | None, Field(examples=["2026-03-01T09:30:00Z"])]
    last_job_id: Annotated[UUID | None, Field(examples=["0b9b8f0e-7d0c-4b53-9c1e-0f7f6d0b5a11"])]
    last_job_status: Annotated[str | None, Field(examples=["done"])]
    next_minute: Annotated[datetime, Field(examples=["2026-03-01T09:31:00Z"])]


class OneTick(ActionInput):
    """Which tick."""

    name: Annotated[
        str, Field(min_length=1, max_length=LONGEST_NAME, description="Its name, from the list", examples=["none"])
    ]


class TickRun(BaseModel):
    """The job that was enqueued."""

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(examples=["purge-outbox"])]
    job_id: Annotated[UUID, Field(examples=["0b9b8f0e-7d0c-4b53-9c1e-0f7f6d0b5a11"])]


def tick_actions(ticks: JobTicks) -> Sequence[Action[Any, Any]]:
    """The operator actions on `ticks`: list them, run one now."""
    by_name = {tick.name: tick for tick in ticks}

    async def find(_given: ActionInput, context: ActionContext) -> Page[TickRow]:
        rows = (await context.session.execute(_ROWS, {"names": list(by_name)})).all()
        seen = {row.name: row for row in rows}
        return Page[TickRow](items=[_shown(tick, rows[0].now, seen.get(tick.name)) for tick in ticks], next_cursor=None)

    async def run(given: OneTick, context: ActionContext) -> TickRun:
        tick = by_name.get(given.name)
        if tick is None:
            raise TickUnknown(tick=given.name)
        return TickRun(name=tick.name, job_id=await run_now(tick, context.tx))

    return (
        Action(
            name="ticks list",
            messages=MESSAGES,
            input=ActionInput,
            result=Page[TickRow],
            changes=False,
            run=find,
            columns=("name", "cron", "missed", "last_minute", "last_job_status", "next_minute"),
        ),
        Action(
            name="ticks run",
            messages=MESSAGES,
            input=OneTick,
            result=TickRun,
            changes=True,
            run=run,
            refusals=(TickUnknown, TickAskedFor),
            of="name",
        ),
    )


def _shown(tick: Tick[Any], now: datetime, row: Any) -> TickRow:
    return TickRow(
        name=tick.name,
        cron=tick.cron,
        job_kind=tick.kind.name,
        missed=tick.missed,
        last_minute=minute_instant(row.minute) if row is not None else None,
        last_job_id=row.job_id if row is not None else None,
        last_job_status=row.status if row is not None else None,
        next_minute=tick.schedule.next_after(now),
    )
