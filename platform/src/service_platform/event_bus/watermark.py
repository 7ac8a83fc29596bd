"""Which offset of a partition may be committed while its messages finish in any order."""

from __future__ import annotations

from collections import deque


class Watermark:
    """The committed offset never passes a message that is not finished.

    Offsets start in ascending order (gaps are normal: a log has control records) and finish in any order. One that
    does not ascend is an error: the position would jump over what comes between. One thread
    starts and finishes; any thread may read `position`.
    """

    def __init__(self) -> None:
        self._open: deque[int] = deque()
        self._finished: set[int] = set()
        self._last = -1
        self.position: int | None = None
        """The offset to commit, that of the next message to read after a restart; None before anything finished."""

    def start(self, offset: int) -> None:
        if offset <= self._last:
            raise ValueError(f"offset {offset} starts after {self._last}: the order of the partition is lost")
        self._last = offset
        self._open.append(offset)

    def finish(self, offset: int) -> None:
        self._finished.add(offset)
        while self._open and self._open[0] in self._finished:
            done = self._open.popleft()
            self._finished.discard(done)
            self.position = done + 1
