"""One assigned partition: its messages in lanes by key, and how far it may be committed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from confluent_kafka import Message

from service_platform.telemetry import get_logger

from .dispatch import Dispatcher
from .handling import Abandoned
from .log_events import EventBusLogEvent
from .records import size_of
from .watermark import Watermark

# A partition with more than this in hand is paused, and resumed at half of it: that half is to last for as long as it
# takes until the next ones come, which is a poll and a fetch, a fifth of a second.
MAX_MESSAGES = 4000
MAX_BYTES = 4 * 1024 * 1024

_log = get_logger()


class Partition:
    """Works off the messages of one partition: those of a key in the order of the log, those of other keys beside.

    `slots` bounds how many messages are in a handler at once, over all partitions. Lives on the event loop. The
    fetching thread reads `position`, `is_full` and `has_room`, and calls `expect` for what it hands over: so what is
    on its way counts, and a handler that blocks the loop cannot have the process filled with what waits for the loop.
    Each counter is written by one thread only.
    """

    def __init__(
        self,
        topic: str,
        number: int,
        dispatcher: Dispatcher,
        slots: asyncio.Semaphore,
        failed: Callable[[BaseException], None],
    ) -> None:
        self.topic = topic
        self.number = number
        self._dispatcher = dispatcher
        self._slots = slots
        self._failed = failed
        self._lanes: dict[bytes, deque[Message]] = {}
        self._waiting: set[asyncio.Task[None]] = set()
        self._busy: set[asyncio.Task[None]] = set()
        self._expected_messages = 0
        self._expected_bytes = 0
        self._finished_messages = 0
        self._finished_bytes = 0
        self._watermark = Watermark()
        self._stopping = asyncio.Event()

    @property
    def position(self) -> int | None:
        """The offset to commit: nothing unfinished lies before it. None before anything finished."""
        return self._watermark.position

    @property
    def is_full(self) -> bool:
        return self.messages_in_hand >= MAX_MESSAGES or self.bytes_in_hand >= MAX_BYTES

    @property
    def has_room(self) -> bool:
        return self.messages_in_hand <= MAX_MESSAGES // 2 and self.bytes_in_hand <= MAX_BYTES // 2

    @property
    def messages_in_hand(self) -> int:
        return self._expected_messages - self._finished_messages

    @property
    def bytes_in_hand(self) -> int:
        return self._expected_bytes - self._finished_bytes

    def expect(self, messages: Sequence[Message]) -> None:
        """Called by the fetching thread before it hands `messages` over to `add`."""
        self._expected_messages += len(messages)
        self._expected_bytes += sum(size_of(message) for message in messages)

    def add(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._watermark.start(_offset(message))
            if not self._dispatcher.wants(message):
                self._finish(message)
                continue
            key = _key(message)
            lane = self._lanes.get(key)
            if lane is not None:
                lane.append(message)
            else:
                self._lanes[key] = deque([message])
                task = asyncio.create_task(self._work_off(key), name=f"{self.topic}/{self.number}")
                self._waiting.add(task)
                task.add_done_callback(self._ended)

    async def stop(self, within_seconds: float) -> None:
        """Finish the messages at hand, or give them up after the bound; begin no other.

        What was given up is never committed: its transaction rolls back, and its next owner has it delivered again.
        """
        self._stopping.set()
        for task in self._waiting:
            task.cancel()
        busy = set(self._busy)
        if not busy:
            return
        _, unfinished = await asyncio.wait(busy, timeout=within_seconds)
        if unfinished:
            _log.warning(EventBusLogEvent.WORK_ABANDONED, topic=self.topic, partition=self.number)
            for task in unfinished:
                task.cancel()
            await asyncio.wait(unfinished, timeout=1.0)

    async def _work_off(self, key: bytes) -> None:
        """Handle what is in the lane, one after the other, until it is empty."""
        task = asyncio.current_task()
        assert task is not None
        lane = self._lanes[key]
        while lane:
            if self._stopping.is_set():
                return
            async with self._slots:
                self._waiting.discard(task)
                self._busy.add(task)
                await self._dispatcher.dispatch(lane[0], self._stopping)
            self._finish(lane.popleft())
            self._busy.discard(task)
            self._waiting.add(task)
        del self._lanes[key]

    def _finish(self, message: Message) -> None:
        self._finished_messages += 1
        self._finished_bytes += size_of(message)
        self._watermark.finish(_offset(message))

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._waiting.discard(task)
        self._busy.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, Abandoned):
            self._failed(error)


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset


def _key(message: Message) -> bytes:
    key = message.key()
    return key if isinstance(key, bytes) else b""
