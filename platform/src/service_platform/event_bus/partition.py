"""One assigned partition: its messages in order, and how far it may be committed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from confluent_kafka import Message

from service_platform.telemetry import get_logger

from .dispatch import Abandoned, Dispatcher
from .log_events import EventBusLogEvent
from .watermark import Watermark

# A partition with more than this in hand is paused, and resumed at half of it.
MAX_MESSAGES = 1000
MAX_BYTES = 4 * 1024 * 1024
_SKIPPED_IN_ONE_GO = 200

_log = get_logger()


class Partition:
    """Works off the messages of one partition, one at a time, in the order of the log.

    Lives on the event loop. The fetching thread calls nothing here; it reads `position`, `is_full` and `has_room`,
    single values that only the loop writes.
    """

    def __init__(
        self, topic: str, number: int, dispatcher: Dispatcher, failed: Callable[[BaseException], None]
    ) -> None:
        self.topic = topic
        self.number = number
        self._dispatcher = dispatcher
        self._queue: deque[Message] = deque()
        self._bytes = 0
        self._watermark = Watermark()
        self._arrived = asyncio.Event()
        self._stopping = asyncio.Event()
        self._failed = failed
        self._task = asyncio.create_task(self._work(), name=f"{topic}/{number}")
        self._task.add_done_callback(self._report)

    @property
    def position(self) -> int | None:
        """The offset to commit: nothing unfinished lies before it. None before anything finished."""
        return self._watermark.position

    @property
    def is_full(self) -> bool:
        return len(self._queue) >= MAX_MESSAGES or self._bytes >= MAX_BYTES

    @property
    def has_room(self) -> bool:
        return len(self._queue) <= MAX_MESSAGES // 2 and self._bytes <= MAX_BYTES // 2

    def add(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._watermark.start(_offset(message))
            self._bytes += _size(message)
        self._queue.extend(messages)
        self._arrived.set()

    async def stop(self, within_seconds: float) -> None:
        """Finish the message at hand, or give it up after the bound; begin no other.

        What was given up is never committed: its transaction rolls back, and its next owner has it delivered again.
        """
        self._stopping.set()
        await asyncio.wait({self._task}, timeout=within_seconds)
        if not self._task.done():
            _log.warning(EventBusLogEvent.WORK_ABANDONED, topic=self.topic, partition=self.number)
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1.0)

    async def _work(self) -> None:
        while not self._stopping.is_set():
            self._arrived.clear()
            await self._work_off()
            if not self._stopping.is_set():
                await self._wait()

    async def _work_off(self) -> None:
        skipped = 0
        while self._queue and not self._stopping.is_set():
            message = self._queue[0]
            if self._dispatcher.wants(message):
                await self._dispatcher.dispatch(message, self._stopping)
            elif (skipped := skipped + 1) % _SKIPPED_IN_ONE_GO == 0:
                await asyncio.sleep(0)
            self._queue.popleft()
            self._bytes -= _size(message)
            self._watermark.finish(_offset(message))

    async def _wait(self) -> None:
        waits = {asyncio.ensure_future(self._arrived.wait()), asyncio.ensure_future(self._stopping.wait())}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    def _report(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, Abandoned):
            self._failed(error)


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset


def _size(message: Message) -> int:
    return len(message.value() or b"")
