"""What a job kind is, and how a domain service enqueues one inside its transaction."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel

from service_platform.database import Transaction

from .enqueue import enqueue_job

PayloadT = TypeVar("PayloadT", bound=BaseModel)

_NAME = re.compile(r"[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind(Generic[PayloadT]):
    """One kind of job: its name, its payload, and how long and how often it may run.

    `name` is `<service>.<what it does>`, like `payment.capture-payment`; the service's queue follows from it.
    `payload` is a frozen pydantic model of ids and literals: what a job needs to know changes until it runs.
    `lease_seconds` is how long a claim holds without renewal. The lease is renewed while the job works, so this is
    how long a dead worker's job waits, not how long a job may take.
    `deadline_seconds` is how long one claim may take at most; then it is ended and counts as failed. Timeouts of
    the calls inside lie below it.
    `max_claims` is how often it may be claimed before it is dead; a claim that killed its worker counts. As failures
    count, too, it must outlast an outage of what the job calls.
    `max_silent_runs` is how many runs in a row may end without a word (no success, failure or hand-back: the worker
    died or stalled) before it is dead. A job that kills its worker is stopped by this one, soon.
    A failed job waits up to `backoff_seconds * 2 ** claims` (full jitter), at most `backoff_limit_seconds`.
    """

    name: str
    payload: type[PayloadT]
    lease_seconds: float = 30.0
    deadline_seconds: float = 120.0
    max_claims: int = 10
    max_silent_runs: int = 10
    backoff_seconds: float = 2.0
    backoff_limit_seconds: float = 300.0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"Job kind {self.name!r}: name it <service>.<what-it-does>, like payment.capture-payment")
        if not self.payload.model_config.get("frozen"):
            raise TypeError(f"Job kind {self.name}: make {self.payload.__name__} frozen (model_config)")
        if min(self.lease_seconds, self.deadline_seconds, self.backoff_seconds, self.backoff_limit_seconds) <= 0:
            raise ValueError(f"Job kind {self.name}: lease, deadline and backoff are seconds above zero")
        if min(self.max_claims, self.max_silent_runs) < 1:
            raise ValueError(f"Job kind {self.name}: max_claims and max_silent_runs are at least 1")

    @property
    def service(self) -> str:
        """The service that owns the kind."""
        return self.name.partition(".")[0]

    def pause_after(self, claims: int) -> float:
        """Seconds until a job that failed in its run number `claims` may run again."""
        longest = min(self.backoff_limit_seconds, self.backoff_seconds * 2 ** min(claims, 30))
        return random.uniform(0, longest)

    async def enqueue(self, payload: PayloadT, tx: Transaction, *, key: str) -> UUID:
        """Add a job to `tx`: it exists, and will run, exactly when `tx` commits.

        `key` names the work, like `capture:<payment id>`: there is one job per key, ever (until it is purged). A
        second enqueue of a key changes nothing; it waits for a transaction that holds the key, and if that one rolls
        back, this one makes the job. Returns the id of the key's job, new or not.

        Raises `UnstorableJob` for a key or payload that the database cannot hold (a NUL character, a key above 255).
        """
        return await enqueue_job(self.name, payload, tx, key=key)
