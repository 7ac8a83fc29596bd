"""The calls of the SQL functions that own the job table (see `schema.py`).

Two kinds of caller: `advance` and `insert` run inside a domain transaction; the others are each a statement of their
own, sent over the bare driver, so that a claim costs one round trip. Wherever a run changes its job, it shows the
fencing token it holds as `expected_token`.

What a crash of the server may take back with no harm does not wait for its disk (`_UNFLUSHED`). Never a claim: its
token would be given out twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from service_platform.database import Database, Transaction

from .fenced_out import JobFencedOut

_UNFLUSHED = "FROM set_config('synchronous_commit', 'off', true)"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """What `job_claim` says about the job: claimed (`running`), at one of its limits (`dead`), or ended as asked."""

    status: Literal["running", "dead", "cancelled"]
    token: int
    claims: int
    silent_runs: int
    current_step: str | None
    payload: str
    correlation_id: str
    traceparent: str | None


async def advance(tx: Transaction, job_id: UUID, *, step: str, expected_token: int, lease_seconds: float) -> None:
    """Make `step` the current one and extend the lease, if the run that holds `expected_token` still owns the job.

    Raises `JobFencedOut` otherwise.
    """
    driver = await tx.driver()
    if not await driver.fetchval("SELECT job_advance($1, $2, $3, $4)", job_id, step, expected_token, lease_seconds):
        raise JobFencedOut(f"job {job_id}: another run owns it, or it is finished (step {step})")


async def insert(
    tx: Transaction, job_id: UUID, *, kind: str, key: str, payload: str, correlation_id: str, traceparent: str | None
) -> UUID:
    """Insert the job, unless one has `key`. Returns the id of the key's job: `job_id` exactly when it is new."""
    driver = await tx.driver()
    found: UUID = await driver.fetchval(
        "SELECT job_enqueue($1, $2, $3, $4, $5, $6)", job_id, kind, key, payload, correlation_id, traceparent
    )
    return found


class JobStatements:
    """The statements that stand alone, over one service's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self,
        job_id: UUID,
        *,
        kind: str,
        claimed_by: str,
        lease_seconds: float,
        max_claims: int,
        max_silent_runs: int,
    ) -> ClaimRow | None:
        """Claim the job for `claimed_by`; None when it is not there, not due, finished, or alive elsewhere."""
        async with self._database.autocommit() as driver:
            row = await driver.fetchrow(
                "SELECT status, token, claims, silent_runs, current_step, payload, correlation_id, traceparent"
                " FROM job_claim($1, $2, $3, $4, $5, $6)",
                job_id, kind, claimed_by, lease_seconds, max_claims, max_silent_runs,
            )  # fmt: skip
        return None if row is None else ClaimRow(*row)

    async def complete(self, job_id: UUID, *, expected_token: int) -> bool:
        """Set the job done. False when the run that holds `expected_token` does not own it any more.

        A server that crashes within the next half second may forget it. The lease then runs out and the job comes
        again at its last step, as after a worker that died right before this.
        """
        async with self._database.autocommit() as driver:
            return bool(await driver.fetchval(f"SELECT job_complete($1, $2) {_UNFLUSHED}", job_id, expected_token))

    async def fail(
        self, job_id: UUID, *, expected_token: int, error: str, retry_in_seconds: float, max_claims: int
    ) -> Literal["failed", "dead", "cancelled"] | None:
        """Record the error: the job comes again after `retry_in_seconds`, or is dead when its claims are used up.

        It is cancelled where somebody asked for that. None when the run that holds `expected_token` does not own it
        any more.
        """
        async with self._database.autocommit() as driver:
            status = await driver.fetchval(
                "SELECT job_fail($1, $2, $3, $4, $5)", job_id, expected_token, error, retry_in_seconds, max_claims
            )
        assert status in {None, "failed", "dead", "cancelled"}
        return status  # type: ignore[no-any-return]

    async def release(self, job_id: UUID, *, expected_token: int) -> Literal["pending", "cancelled"] | None:
        """Give the job back unfinished and without fault: it is pending again and the claim is not counted.

        It is cancelled where somebody asked for that. None when the run that holds `expected_token` does not own it.
        """
        async with self._database.autocommit() as driver:
            status = await driver.fetchval("SELECT job_release($1, $2)", job_id, expected_token)
        assert status in {None, "pending", "cancelled"}
        return status  # type: ignore[no-any-return]

    async def review(self, job_id: UUID, *, expected_token: int, reason: str) -> bool:
        """Set the job aside for a person. False when the run that holds `expected_token` does not own it any more."""
        async with self._database.autocommit() as driver:
            return bool(await driver.fetchval("SELECT job_review($1, $2, $3)", job_id, expected_token, reason))

    async def cancel(self, job_id: UUID, *, expected_token: int) -> bool:
        """End the job as it was asked to. False when nobody asked, or `expected_token` does not own it any more."""
        async with self._database.autocommit() as driver:
            return bool(await driver.fetchval("SELECT job_cancel($1, $2)", job_id, expected_token))

    async def mark_dispatched(self, tokens: Mapping[UUID, int], *, resend_after_seconds: float) -> None:
        """Note that the broker has the hints of these jobs, sent under these tokens.

        The sweep leaves them alone for a growing while; what was claimed since the hint was sent stays as it is. A
        server that crashes and forgets it forgets that the outbox's rows were sent, too, as that is noted after it.
        """
        mark = f"SELECT job_mark_dispatched($1, $2, $3) {_UNFLUSHED}"
        async with self._database.autocommit() as driver:
            await driver.fetchval(mark, list(tokens), list(tokens.values()), resend_after_seconds)

    async def sweep(self, *, limit: int, resend_after_seconds: float) -> int:
        """Send the hints of up to `limit` overdue jobs of each sort again; how many that were."""
        async with self._database.autocommit() as driver:
            swept = await driver.fetchval("SELECT job_sweep($1, $2)", limit, resend_after_seconds)
        assert isinstance(swept, int)
        return swept
