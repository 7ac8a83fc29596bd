"""Strikes a running stack as the schedule says, and brings all back at the end."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

import httpx
import psutil

from native.errors import StackError
from world.processes import family, kill, send
from world.world import have_all_up

from .blows import MAIL_FAULTS, PROVIDER_FAULTS, Blow, Planned, Way
from .ground import Ground

_REQUEST_SECONDS = 5.0


@dataclass(frozen=True)
class Struck:
    """A blow that was dealt, and when; `missed` says why one was not."""

    at: datetime
    blow: Blow
    missed: str | None = None

    def __str__(self) -> str:
        return f"{self.blow}{f' (missed: {self.missed})' if self.missed else ''}"


class Storm:
    """Deals the planned blows. Two never have one target at a time: the second is missed."""

    def __init__(self, ground: Ground, *, seed: int, told: Callable[[Struck], None] = lambda _: None) -> None:
        self.struck: list[Struck] = []
        self._ground = ground
        self._stack = ground.stack
        self._dice = random.Random(seed)
        self._told = told
        self._under_way: set[str] = set()

    async def rage(self, plan: Sequence[Planned]) -> None:
        """Deal all of `plan`; whatever happens, all is up and connected again afterwards."""
        begun_at = monotonic()
        try:
            async with asyncio.TaskGroup() as blows:
                for planned in plan:
                    await asyncio.sleep(max(0.0, begun_at + planned.at - monotonic()))
                    blows.create_task(self._deal(planned.blow))
        finally:
            await self._calm()

    async def _deal(self, blow: Blow) -> None:
        at, missed = datetime.now(UTC), None
        if blow.target in self._under_way:
            missed = "another blow at it is not over"
        else:
            self._under_way.add(blow.target)
            try:
                await self._strike(blow)
            except (StackError, psutil.NoSuchProcess, httpx.HTTPError, ProcessLookupError) as error:
                missed = str(error)
            finally:
                self._under_way.discard(blow.target)
        self.struck.append(Struck(at, blow, missed))
        self._told(self.struck[-1])

    async def _strike(self, blow: Blow) -> None:
        match blow.way:
            case Way.KILL:
                kill(self._stack, blow.target)
            case Way.KILL_CHILD:
                children = family(self._stack, blow.target)[1:]
                if not children:
                    raise StackError(f"{blow.target} has no child at the moment", "Nothing was struck.")
                self._dice.choice(children).kill()
            case Way.FREEZE:
                frozen = family(self._stack, blow.target)
                send(frozen, signal.SIGSTOP)
                try:
                    await asyncio.sleep(blow.seconds)
                finally:
                    send(frozen, signal.SIGCONT)
            case Way.RESTART:
                await asyncio.to_thread(self._stack.stop, blow.target)
                await asyncio.to_thread(self._stack.start, blow.target, wait=False)
            case Way.CUT | Way.SLOW:
                async with self._disturbed(blow):
                    await asyncio.sleep(blow.seconds)
            case Way.PROVIDER:
                await self._plant("provider", PROVIDER_FAULTS[blow.target])
            case Way.MAIL:
                await self._plant("mail", MAIL_FAULTS[blow.target])

    @contextlib.asynccontextmanager
    async def _disturbed(self, blow: Blow) -> AsyncIterator[None]:
        proxies = self._ground.proxies
        assert proxies is not None, "only a stack with proxies has routes to strike"
        await asyncio.to_thread(proxies.cut if blow.way is Way.CUT else proxies.slow, blow.target)
        try:
            yield
        finally:
            await asyncio.to_thread(proxies.mend_one, blow.target)

    async def _plant(self, double: str, rule: dict[str, object]) -> None:
        async with self._double(double) as http:
            (await http.post("/_double/faults", json=rule)).raise_for_status()

    async def _calm(self) -> None:
        if self._ground.proxies is not None:
            await asyncio.to_thread(self._ground.proxies.mend)
        for process in self._stack.processes():
            with contextlib.suppress(StackError, psutil.NoSuchProcess):
                send(family(self._stack, process.name), signal.SIGCONT)
        await asyncio.to_thread(have_all_up, self._stack)
        for double in ("provider", "mail"):
            async with self._double(double) as http:
                (await http.delete("/_double/faults")).raise_for_status()

    def _double(self, name: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self._stack.url(name), timeout=_REQUEST_SECONDS, trust_env=False)
