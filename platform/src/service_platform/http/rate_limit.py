"""How often one caller may ask: counted by the token's subject, for all replicas of a service together, in Redis."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Callable

from limits import parse
from limits.aio.storage import RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError
from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from service_platform.telemetry import get_logger

from .errors import TooManyRequests
from .log_events import HttpLogEvent

_LONGEST_WAIT_SECONDS = 0.25
_LEFT_ALONE_SECONDS = 5.0

_log = get_logger()


class RateLimit:
    """A sliding window (two counters, weighted) of `limit`, such as "600/minute", for each subject.

    It fails open (docs/adr/0020-rate-limit-fails-open.md): while Redis does not answer within a quarter of a second,
    nobody is refused, and it is left alone for 5 s at a time, so that an outage costs a request now and then that
    quarter and the others nothing.
    """

    def __init__(self, limit: str, *, redis_url: str, service: str, now: Callable[[], float] = time.monotonic) -> None:
        self._limit = parse(limit)
        self._now = now
        self._left_alone_until = -math.inf
        # One try only: the library's own retries would add up to seconds, in front of every request.
        self._pool = ConnectionPool.from_url(redis_url, retry=Retry(NoBackoff(), 0))
        self._counted = SlidingWindowCounterRateLimiter(
            RedisStorage(
                f"async+{redis_url}",
                wrap_exceptions=True,
                implementation="redispy",
                key_prefix=f"{service}:rate-limit",
                connection_pool=self._pool,  # type: ignore[arg-type]  # documented, and missing in its types
            )
        )

    async def count(self, subject: str) -> None:
        """Count one request of `subject`. Raises TooManyRequests, which says when to try again."""
        if self._now() < self._left_alone_until:
            return
        # A subject may be a mail address, and Redis keeps its keys on disk.
        caller = hashlib.sha256(subject.encode()).hexdigest()
        try:
            async with asyncio.timeout(_LONGEST_WAIT_SECONDS):
                if await self._counted.hit(self._limit, caller):
                    return
                window = await self._counted.get_window_stats(self._limit, caller)
        except (StorageError, OSError) as error:
            self._left_alone_until = self._now() + _LEFT_ALONE_SECONDS
            _log.warning(HttpLogEvent.RATE_LIMIT_OPEN, reason=repr(error), seconds=_LEFT_ALONE_SECONDS)
            return
        raise TooManyRequests(retry_after_seconds=max(1, math.ceil(window.reset_time - time.time())))

    async def close(self) -> None:
        """Give the connections back."""
        await self._pool.aclose()
