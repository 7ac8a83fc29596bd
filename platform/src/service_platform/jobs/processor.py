"""The processor of a job kind: claims, runs the steps, settles. The only place where a run's errors are caught."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Generic, final
from uuid import UUID

from service_platform.errors import describe, storable
from service_platform.telemetry import correlation_scope, get_logger, restore, span

from .claim import ClaimedJob, claim
from .fenced_out import JobFencedOut
from .kind import JobKind, PayloadT
from .lease import HandedBack, Lease, Leases
from .log_events import JobsLogEvent
from .statements import JobStatements
from .step import Step
from .verdicts import JobCancelled, NeedsReview

_LOST = "settling found that another run owns the job, or that it is finished"
_OF_A_FAILURE = {"failed": JobsLogEvent.FAILED, "dead": JobsLogEvent.DIED, "cancelled": JobsLogEvent.CANCELLED}

_log = get_logger()


class StepGone(Exception):
    """The job stands at a step that its processor does not have."""


class FencedProcessor(Generic[PayloadT]):
    """Runs the jobs of one kind. A subclass sets `kind` and gives its steps to `__init__`.

    The steps run in order, the first time from the first one. A job that comes again, after a failure or a
    take-over, starts at its current step: the one whose fence was acquired last. Steps before it are not repeated.
    """

    kind: JobKind[PayloadT]

    def __init__(self, steps: Sequence[Step[PayloadT]]) -> None:
        self.steps = tuple(steps)
        names = [step.name for step in self.steps]
        if not names or len(set(names)) != len(names):
            raise ValueError(f"{type(self).__name__}: give it at least one step, and each a name of its own: {names}")

    @final
    async def process(self, job_id: UUID, *, statements: JobStatements, leases: Leases, claimed_by: str) -> None:
        """Run the job to its end, or to the end of this run.

        Returns quietly when there is nothing to claim or this run was fenced out. An error of a step is recorded in
        the job, which comes again after a pause; `NeedsReview` sets the job aside for a person. A job that somebody
        asked to cancel ends before its next step, or where a step asks for that. Only an error of the claim itself
        leaves here: nothing was begun then, and the sweep sends the job again.
        """
        job = await claim(statements, self.kind, job_id, claimed_by=claimed_by)
        if job is None:
            _log.info(JobsLogEvent.NOT_CLAIMED, kind=self.kind.name, job_id=str(job_id))
            return
        with ExitStack() as context:
            context.enter_context(correlation_scope(job.row.correlation_id))
            context.enter_context(restore({"traceparent": job.row.traceparent} if job.row.traceparent else {}))
            context.enter_context(span(self.kind.name, {"job_id": str(job_id), "claims": job.row.claims}))
            match job.row.status:
                case "dead":
                    _log.error(
                        JobsLogEvent.DIED, **_about(job), silent_runs=job.row.silent_runs, reason="it is at a limit"
                    )
                case "cancelled":
                    _log.info(JobsLogEvent.CANCELLED, **_about(job), reason="its last run ended without a word")
                case "running":
                    _log.info(JobsLogEvent.CLAIMED, **_about(job), step=job.row.current_step)
                    await self._run(job, statements, leases)

    async def _run(self, job: ClaimedJob, statements: JobStatements, leases: Leases) -> None:
        try:
            try:
                with Lease(job) as lease:
                    leases.watch(lease)
                    await self._take_steps(job, lease)
                await self._complete(job, statements)
            except JobFencedOut:
                raise
            except HandedBack:
                await self._hand_back(job, statements)
            except NeedsReview as verdict:
                await self._set_aside(job, verdict, statements)
            except JobCancelled as verdict:
                await self._cancel(job, verdict, statements)
            except Exception as error:  # noqa: BLE001 - recorded in the job, which comes again
                await self._fail(job, error, statements)
        except JobFencedOut as verdict:
            _log.info(JobsLogEvent.FENCED_OUT, **_about(job), verdict=str(verdict))
        except Exception:  # noqa: BLE001 - the end of the line: it is logged, and the lease runs out
            _log.exception(JobsLogEvent.SETTLING_FAILED, **_about(job))

    async def _take_steps(self, job: ClaimedJob, lease: Lease) -> None:
        payload = self.kind.payload.model_validate_json(job.row.payload)
        for step in self._steps_from(job.row.current_step):
            run = job.at_step(step.name, payload, lambda: lease.cancel_requested)
            run.safe_point()
            await step.run(run)

    def _steps_from(self, current: str | None) -> Sequence[Step[PayloadT]]:
        if current is None:
            return self.steps
        for at, step in enumerate(self.steps):
            if step.name == current:
                return self.steps[at:]
        raise StepGone(f"The job stands at step {current!r}, which {type(self).__name__} does not have.")

    async def _complete(self, job: ClaimedJob, statements: JobStatements) -> None:
        _still_ours(await statements.complete(job.job_id, expected_token=job.row.token))
        _log.info(JobsLogEvent.COMPLETED, **_about(job))

    async def _hand_back(self, job: ClaimedJob, statements: JobStatements) -> None:
        status = await statements.release(job.job_id, expected_token=job.row.token)
        _still_ours(status is not None)
        _log.info(JobsLogEvent.CANCELLED if status == "cancelled" else JobsLogEvent.HANDED_BACK, **_about(job))

    async def _set_aside(self, job: ClaimedJob, verdict: NeedsReview, statements: JobStatements) -> None:
        reason = storable(verdict.reason)
        _still_ours(await statements.review(job.job_id, expected_token=job.row.token, reason=reason))
        _log.error(JobsLogEvent.NEEDS_REVIEW, **_about(job), reason=reason)

    async def _cancel(self, job: ClaimedJob, verdict: JobCancelled, statements: JobStatements) -> None:
        _still_ours(await statements.cancel(job.job_id, expected_token=job.row.token))
        _log.info(JobsLogEvent.CANCELLED, **_about(job), verdict=str(verdict))

    async def _fail(self, job: ClaimedJob, error: Exception, statements: JobStatements) -> None:
        status = await statements.fail(
            job.job_id,
            expected_token=job.row.token,
            error=describe(error),
            retry_in_seconds=self.kind.pause_after(job.row.claims),
            max_claims=self.kind.max_claims,
        )
        if status is None:
            raise JobFencedOut(_LOST)
        log = _log.error if status == "dead" else _log.warning
        log(_OF_A_FAILURE[status], **_about(job), exc_info=error)


def _still_ours(matched: bool) -> None:
    if not matched:
        raise JobFencedOut(_LOST)


def _about(job: ClaimedJob) -> dict[str, object]:
    return {"kind": job.kind.name, "job_id": str(job.job_id), "run": job.row.token, "claims": job.row.claims}
