"""A steady flow of rows through a running relay: when each was committed, and when a consumer saw it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service_platform.event_bus import topic_of

from .arrivals import TopicReader
from .contestants import Contestant
from .costs import Costs
from .lab import Lab
from .processes import Program, Running
from .waiting import Unfinished, until

RATE = 200
_WARM_UP_SECONDS = 2
PROGRAMS = Path(__file__).parent / "programs"
_ANSWER_SECONDS = 180.0
_START_SECONDS = 120.0
_ARRIVE_SECONDS = 60.0


@dataclass(frozen=True)
class Flow:
    """What a flow has shown. Times are monotonic, in seconds; `visible` lacks the rows that never came."""

    begun: Mapping[int, float]
    committed: Mapping[int, float]
    visible: Mapping[int, float]
    spent: Mapping[str, float]

    @property
    def seconds(self) -> float:
        """From the first row's transaction to the last one's end."""
        return max(self.committed.values()) - min(self.begun.values())

    def waits(self) -> list[float]:
        """From commit to visible, sorted."""
        return sorted(at - self.committed[seq] for seq, at in self.visible.items())


class Talker:
    """A program of the bench that is spoken with by lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, lab: Lab, program: str, **more: str) -> Talker:
        """Start one of `programs/` on the bench's own interpreter."""
        return await cls.of(Program((sys.executable, str(PROGRAMS / program)), lab.environment() | more))

    @classmethod
    async def of(cls, program: Program) -> Talker:
        """Start any program."""
        process = await asyncio.create_subprocess_exec(
            *program.argv,
            env=dict(program.env),
            cwd=program.cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**26,
        )
        return cls(process)

    async def hear(self) -> str:
        """Its next line."""
        assert self._process.stdout is not None
        async with asyncio.timeout(_ANSWER_SECONDS):
            line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a program of the bench ended with {await self._process.wait()}")
        return line.decode()

    def say(self) -> None:
        """Give it its line."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()


Meanwhile = Callable[[], Awaitable[None]]


async def _nothing() -> None:
    return


async def flow_through(
    lab: Lab,
    contestant: Contestant,
    source: str,
    relays: Sequence[Running],
    *,
    seconds: float,
    meanwhile: Meanwhile = _nothing,
) -> Flow:
    """Commit rows at `RATE` for so long while `relays` run, after a warm-up; `meanwhile` runs beside it.

    Raises:
        Unfinished: the relay was not ready, or the warm-up did not come through.
    """

    async def ready() -> bool:
        return all(relay.is_ready for relay in relays) and await contestant.is_ready()

    await until(ready, "the relay is ready", within=_START_SECONDS, while_alive=relays)
    told: dict[str, Any] = {
        "contestant": contestant.name,
        "settings": {"port_base": lab.settings.port_base, "state_dir": str(lab.settings.state_dir)},
        "source": source,
        "rate": RATE,
        "rows": int(seconds * RATE),
        "warm_ups": _WARM_UP_SECONDS * RATE,
    }
    reader = TopicReader(lab.kafka, source)

    async def through(rows: int) -> bool:
        return reader.count() >= rows

    async def came(rows: int) -> bool:
        """Each of them: one that came twice is counted twice, in the place of one that is still to come."""
        return (await asyncio.to_thread(reader.read)).lost(rows) <= 0

    watcher = await Talker.start(lab, "watch.py", KAFKA=lab.kafka, TOPIC=topic_of(source))
    feeder = await Talker.start(lab, "feed.py", FEED=json.dumps(told))
    try:
        await watcher.hear()
        await feeder.hear()
        warm_ups = told["warm_ups"]
        await until(lambda: through(warm_ups), "the warm-up is through", within=_ARRIVE_SECONDS, while_alive=relays)
        costs = Costs.now(lab, relays)
        feeder.say()
        beside = asyncio.ensure_future(meanwhile())
        committed = json.loads(await feeder.hear())
        spent = costs.until_now(lab, relays)
        await beside
        with contextlib.suppress(Unfinished):  # what is missing then, counts as lost
            await until(lambda: through(warm_ups + len(committed)), "all is through", within=_ARRIVE_SECONDS)
            await until(lambda: came(len(committed)), "each row is through", within=_ARRIVE_SECONDS)
        await asyncio.sleep(0.5)  # what is in Kafka now is with its consumer by then
        watcher.say()
        visible = json.loads(await watcher.hear())
    finally:
        reader.close()
        await feeder.end()
        await watcher.end()
    return Flow(
        begun={seq: begun / 1e9 for seq, begun, _ in committed},
        committed={seq: done / 1e9 for seq, _, done in committed},
        visible={seq: at / 1e9 for seq, at in visible},
        spent=spent,
    )
