"""What the Kafka client itself says, in our log. A broker that is away is worth a line at times, not one a try."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

_EVERY_SECONDS = 10.0


class OncePerSubject(logging.Filter):
    """Lets a line pass when none on the same subject has in the last ten seconds.

    The client's lines are `<subject> [<client>] <text>`: `FAIL` is a connection that failed, of which there are up to
    thirty a second for as long as a broker is away.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed_at: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        subject = record.args[0] if isinstance(record.args, tuple) and record.args else record.msg
        now = self._clock()
        passes = now - self._passed_at.get(subject, -math.inf) >= _EVERY_SECONDS
        if passes:
            self._passed_at[subject] = now
        return passes


CLIENT_LOG = logging.getLogger("librdkafka")
CLIENT_LOG.addFilter(OncePerSubject())
