"""Runs jobs by kind: what a worker's child process has, and what a test can have without Celery."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from service_platform.database import Database
from service_platform.telemetry import get_logger

from .lease import Leases
from .log_events import JobsLogEvent
from .processor import FencedProcessor
from .statements import JobStatements

_log = get_logger()


class JobRunner:
    """The processors of one service, one a kind."""

    def __init__(self, database: Database, processors: Iterable[FencedProcessor[Any]], *, leases: Leases) -> None:
        self._statements = JobStatements(database)
        self._leases = leases
        self._claimed_by = f"{socket.gethostname()}:{os.getpid()}"
        self._processors: dict[str, FencedProcessor[Any]] = {}
        for processor in processors:
            if self._processors.setdefault(processor.kind.name, processor) is not processor:
                raise ValueError(f"Two processors for jobs of kind {processor.kind.name}")

    async def run(self, kind: str, job_id: UUID) -> None:
        """Run one delivery to its end. See `FencedProcessor.process` for what ends it quietly and what raises.

        A kind that this worker does not know, because a newer version of the service enqueued it, is left alone: the
        job waits, and the sweep sends it again until a worker that knows it takes it.
        """
        processor = self._processors.get(kind)
        if processor is None:
            _log.warning(JobsLogEvent.KIND_UNKNOWN, kind=kind, job_id=str(job_id))
            return
        await processor.process(job_id, statements=self._statements, leases=self._leases, claimed_by=self._claimed_by)
