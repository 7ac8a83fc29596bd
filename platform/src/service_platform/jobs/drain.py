"""How the main process of a worker tells its children until when they may work."""

from __future__ import annotations

import mmap
import struct
import time

_NEVER = float("inf")


class Drain:
    """The instant at which running jobs are given back; made before the fork, shared by parent and children.

    It lies in memory that the children inherit, as an instant of the monotonic clock, which all processes of a
    machine share: setting it needs no message and works inside a signal handler.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)
        self._write(_NEVER)

    def begin(self, within_seconds: float) -> None:
        """Give running jobs `within_seconds` more. A second call changes nothing."""
        if self._read() == _NEVER:
            self._write(time.monotonic() + within_seconds)

    @property
    def is_due(self) -> bool:
        """Whether what still runs must be given back now."""
        return time.monotonic() >= self._read()

    def _read(self) -> float:
        (instant,) = struct.unpack("d", self._memory[:8])
        return float(instant)

    def _write(self, instant: float) -> None:
        self._memory[:8] = struct.pack("d", instant)
