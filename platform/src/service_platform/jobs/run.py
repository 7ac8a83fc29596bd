"""One run of a claimed job, and what only a claim can make: the fence and the run key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Final, Generic, TypeVar, final
from uuid import UUID

from pydantic import BaseModel

from service_platform.database import Transaction

from .statements import advance
from .verdicts import JobCancelled

PayloadT = TypeVar("PayloadT", bound=BaseModel)


@final
class ClaimProof:
    """Who holds it has claimed the job. Not part of the module's surface: `claim.py` alone shows it."""


CLAIMED: Final = ClaimProof()


def never() -> bool:
    """Nobody asks."""
    return False


def _require(proof: ClaimProof) -> None:
    if proof is not CLAIMED:
        raise TypeError("Runs, fences and run keys come from a claim only: use run.fence(...) and run.key(...).")


@final
@dataclass(frozen=True, slots=True)
class RunKey:
    """`<job id>:<step>:<token>`: the idempotency key of what one run of one step does outside.

    No two runs share it, so a provider tells a repeated call of one run from the call of another.
    """

    proof: InitVar[ClaimProof]
    _: KW_ONLY
    job_id: UUID
    step: str
    token: int

    def __post_init__(self, proof: ClaimProof) -> None:
        _require(proof)

    def __str__(self) -> str:
        return f"{self.job_id}:{self.step}:{self.token}"

    def earlier(self, stored: str) -> RunKey:
        """The key that this run or an earlier one of the same job and step has stored, as `str()` gave it.

        For an effect that has to be repeated under the key with which it was first tried. Raises ValueError for any
        other text: a key of another job or step, or of a run that is still to come.
        """
        whose, _, token = stored.rpartition(":")
        if whose != f"{self.job_id}:{self.step}" or not token.isdecimal() or not 0 < int(token) <= self.token:
            raise ValueError(f"{stored!r} is no key of this run or an earlier one of {self}")
        return RunKey(CLAIMED, job_id=self.job_id, step=self.step, token=int(token))


@final
@dataclass(frozen=True, slots=True)
class Fence:
    """The claim of a step's transactions: `database.transaction(claim=command.fence)`.

    It may be used for several transactions of its step, one after another. Each proves that this run still owns the
    job, names the step as the current one and extends the lease; it holds the job's row until COMMIT, so a take-over
    waits for it and then sees its writes.
    """

    proof: InitVar[ClaimProof]
    _: KW_ONLY
    job_id: UUID
    step: str
    token: int
    lease_seconds: float

    def __post_init__(self, proof: ClaimProof) -> None:
        _require(proof)

    async def acquire(self, tx: Transaction) -> None:
        """Raises `JobFencedOut` when a newer run owns the job, or it is finished."""
        await advance(tx, self.job_id, step=self.step, expected_token=self.token, lease_seconds=self.lease_seconds)


@final
@dataclass(frozen=True, slots=True)
class JobRun(Generic[PayloadT]):
    """What a step gets: the payload of its job, its fence and its run key.

    `claims` counts the runs of this job so far, this one included.
    """

    proof: InitVar[ClaimProof]
    _: KW_ONLY
    job_id: UUID
    payload: PayloadT
    step: str
    token: int
    claims: int
    lease_seconds: float
    cancel_requested: Callable[[], bool] = field(default=never, repr=False, compare=False)

    def __post_init__(self, proof: ClaimProof) -> None:
        _require(proof)

    def safe_point(self) -> None:
        """End the run here if somebody asked to cancel the job: raises `JobCancelled`.

        A cancelled job does not come again, so nothing of it may be half done outside: the processor asks before each
        step, and a long step may ask by this at its own safe points, never inside a transaction.
        """
        if self.cancel_requested():
            raise JobCancelled(f"job {self.job_id} was to be cancelled (before or in step {self.step})")

    def fence(self, step: str) -> Fence:
        """The claim for the transactions of `step`, which is the step at hand."""
        self._at(step)
        return Fence(CLAIMED, job_id=self.job_id, step=step, token=self.token, lease_seconds=self.lease_seconds)

    def key(self, step: str) -> RunKey:
        """The idempotency key for what `step`, which is the step at hand, does outside."""
        self._at(step)
        return RunKey(CLAIMED, job_id=self.job_id, step=step, token=self.token)

    def _at(self, step: str) -> None:
        if step != self.step:
            raise ValueError(f"The job is at step {self.step!r}, not {step!r}: a step uses its own name only.")
