"""Writing a job and the hint of it into the caller's transaction."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import orjson
from pydantic import BaseModel

from service_platform import outbox
from service_platform.database import Transaction
from service_platform.telemetry import carrier, correlation_id, get_logger, new_correlation_id

from . import statements
from .log_events import JobsLogEvent

LONGEST_KEY = 255
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

_log = get_logger()


class UnstorableJob(ValueError):
    """The key or payload holds what the database cannot: a NUL character, or a key that is empty or too long."""


def queue_of(kind: str) -> str:
    """The broker's queue for jobs of `kind`."""
    return f"{kind.partition('.')[0]}.jobs"


async def enqueue_job(kind: str, payload: BaseModel, tx: Transaction, *, key: str) -> UUID:
    """See `JobKind.enqueue`."""
    body = payload.model_dump_json()
    if _NUL.search(body):
        raise UnstorableJob(f"The payload of {kind} holds a NUL character, which PostgreSQL cannot store.")
    if not 0 < len(key) <= LONGEST_KEY or "\0" in key:
        raise UnstorableJob(f"The key of a {kind} job has 1 to {LONGEST_KEY} characters and no NUL: {key[:40]!r}")
    proposed = uuid4()
    correlation = correlation_id() or new_correlation_id()
    trace = carrier()
    job_id = await statements.insert(
        tx,
        proposed,
        kind=kind,
        key=key,
        payload=body,
        correlation_id=correlation,
        traceparent=trace.get("traceparent"),
    )
    if job_id == proposed:
        outbox.append(
            outbox.OutboxMessage(
                channel="celery",
                destination=queue_of(kind),
                key=str(job_id),
                message_id=uuid4(),
                payload=orjson.dumps({"kind": kind, "job_id": str(job_id), "job_key": key, "token": 0}),
                headers={"correlation_id": correlation, **trace},
            ),
            tx,
        )
        _log.debug(JobsLogEvent.ENQUEUED, kind=kind, job_id=str(job_id), job_key=key)
    return job_id
