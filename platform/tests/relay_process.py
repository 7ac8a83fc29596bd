"""A relay in a process of its own, to be killed: `python relay_process.py`, told what to do by RELAY_PROCESS."""

from __future__ import annotations

import asyncio
import json
import os

from service_platform.database import Database, DatabaseAddress
from service_platform.event_bus import KafkaSink
from service_platform.outbox import Relay


async def main() -> None:
    told = json.loads(os.environ["RELAY_PROCESS"])
    database = Database(DatabaseAddress(**told["address"]), application_name="killable")
    relay = Relay(database, channel="kafka", sink=KafkaSink(told["kafka"]), batch=told["batch"], poll_seconds=0.1)
    await relay.run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main())
