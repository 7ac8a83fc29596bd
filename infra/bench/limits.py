"""What the machine gives to a relay that would cost nothing: the producer alone, the database alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import ClassVar

from .contestants.polled_table import PolledTable
from .lab import Lab
from .processes import Program
from .workload import Row

PRODUCER_ALONE = "limit: producer alone"
UPDATE_ALONE = "limit: update alone"

_SECONDS = 300.0


class LimitFailed(Exception):
    """A limit could not be measured."""


class _UpdatedTable(PolledTable):
    name: ClassVar[str] = "update-alone"
    relay: ClassVar[str] = "update_alone"


async def producer_alone(lab: Lab, rows: Sequence[Row]) -> float:
    """Records a second that a producer brings to Kafka."""
    table, source = _UpdatedTable(lab), lab.make_topic()
    try:
        return await _rate(table.script("producer_alone", source, ROWS=str(len(rows))))
    finally:
        lab.drop_topic(source)


async def update_alone(lab: Lab, rows: Sequence[Row]) -> float:
    """Rows a second that Postgres marks and returns."""
    table = _UpdatedTable(lab)
    try:
        await table.prepare()
        await table.commit("none", rows)
        await table.settle()
        return await _rate(table.program("none", 1))
    finally:
        await table.close()


async def _rate(program: Program) -> float:
    process = await asyncio.create_subprocess_exec(
        *program.argv,
        env=dict(program.env),
        cwd=program.cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            answer, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        raise LimitFailed(complaint.decode(errors="replace")[-1000:])
    return float(json.loads(answer)["rows_per_second"])
