"""What this module logs."""

from __future__ import annotations

from service_platform.telemetry import LogEvent


class JobsLogEvent(LogEvent):
    """Names of the log lines about jobs."""

    ENQUEUED = "jobs.job.enqueued"
    CLAIMED = "jobs.job.claimed"
    CLAIM_FAILED = "jobs.job.claim_failed"
    NOT_CLAIMED = "jobs.job.not_claimed"
    DIED = "jobs.job.died"
    COMPLETED = "jobs.job.completed"
    FAILED = "jobs.job.failed"
    FENCED_OUT = "jobs.job.fenced_out"
    CANCELLED = "jobs.job.cancelled"
    NEEDS_REVIEW = "jobs.job.needs_review"
    HANDED_BACK = "jobs.job.handed_back"
    SETTLING_FAILED = "jobs.job.settling_failed"
    KIND_UNKNOWN = "jobs.kind.unknown"
    LEASE_LOST = "jobs.lease.lost"
    RENEWAL_FAILED = "jobs.lease.renewal_failed"
    RUN_ENDED = "jobs.run.ended"
    PROCESS_ENDED = "jobs.process.ended"
    DISPATCH_NOT_NOTED = "jobs.dispatch.not_noted"
    SWEPT = "jobs.sweep.sent"
    SWEEP_FAILED = "jobs.sweep.failed"
    WORKER_STARTED = "jobs.worker.started"
    CHILD_BROKEN = "jobs.worker.child_broken"
    WORKER_NOT_CONSUMING = "jobs.worker.not_consuming"
    WORKER_DRAINING = "jobs.worker.draining"
    WORKER_STOPPED_LATE = "jobs.worker.stopped_late"
