"""A consumer process as the suite composes it, with one consumer that writes one business row an event.

Told by MEASURED_SOURCE whose events to consume, by WRITE_OVER whether its row goes over the transaction's driver or its
session, and by NOTES, if it is there, where to write when each took effect.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import ClassVar

from sqlalchemy import text

from bench.effects import INSERT_EFFECT, INSERT_EFFECT_BY_NAME
from bench.workload import Measured, measured_by
from service_platform.bootstrap import open_database, run_consumers
from service_platform.database import Database
from service_platform.event_bus import Consumer, Delivery
from service_platform.process import run_process
from service_platform.settings import ServiceSettings, load


class WriteEffect(Consumer[Measured]):
    """One row an event, in the transaction that claims it."""

    name: ClassVar[str] = "order.write-effect"
    event: ClassVar[type[Measured]] = measured_by(os.environ["MEASURED_SOURCE"])

    def __init__(self, database: Database) -> None:
        self._database = database
        self._insert = text(INSERT_EFFECT_BY_NAME)
        self._over_session = os.environ["WRITE_OVER"] == "session"
        self.committed: list[tuple[int, int]] = []

    async def handle(self, delivery: Delivery[Measured]) -> None:
        event = delivery.event
        async with self._database.transaction(claim=delivery.claim) as tx:
            if self._over_session:
                await tx.session.execute(
                    self._insert, {"seq": event.seq, "aggregate": event.aggregate, "amount_minor": event.amount_minor}
                )
            else:
                driver = await tx.driver()
                await driver.fetch(INSERT_EFFECT, event.seq, event.aggregate, event.amount_minor)
        self.committed.append((event.seq, time.monotonic_ns()))

    async def write_notes(self) -> None:
        if "NOTES" in os.environ:
            await asyncio.to_thread(Path(os.environ["NOTES"]).write_text, json.dumps(self.committed))


def main() -> None:
    settings = load(ServiceSettings)
    database = open_database(settings, "consumer")
    consumer = WriteEffect(database)
    work = run_consumers(settings, database, [consumer], closing=[consumer.write_notes])
    run_process("consumer", settings, work.body, ready=work.ready)


if __name__ == "__main__":
    main()
