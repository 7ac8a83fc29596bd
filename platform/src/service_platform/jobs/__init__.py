"""Fenced jobs: the row in the database is the truth, Celery's message a hint that it may be worth a look.

One more surface, for worker processes only: `jobs.worker`. It loads Celery, which no other process needs at its start
(a relay loads the client with the first hint that it sends).
"""

from .broker import Broker, DeadlineBeyondVisibility, broker_of
from .child import CHILD_POOL_SIZE, Processors
from .decisions import request_cancel, resolve, retry
from .drain import Drain
from .enqueue import UnstorableJob
from .errors import JobNotFound, JobStateConflict
from .fenced_out import JobFencedOut
from .keeper import LeaseKeeper
from .kind import JobKind
from .lease import DeadlinePassed, HandedBack, Lease, Leases
from .processor import FencedProcessor, StepGone
from .purge import purge_jobs
from .run import Fence, JobRun, RunKey
from .runner import JobRunner
from .sink import CelerySink
from .step import Step
from .sweep import JobSweep
from .verdicts import JobCancelled, NeedsReview

__all__ = [
    "CHILD_POOL_SIZE",
    "Broker",
    "CelerySink",
    "DeadlineBeyondVisibility",
    "DeadlinePassed",
    "Drain",
    "Fence",
    "FencedProcessor",
    "HandedBack",
    "JobCancelled",
    "JobFencedOut",
    "JobKind",
    "JobNotFound",
    "JobRun",
    "JobRunner",
    "JobStateConflict",
    "JobSweep",
    "Lease",
    "LeaseKeeper",
    "Leases",
    "NeedsReview",
    "Processors",
    "RunKey",
    "Step",
    "StepGone",
    "UnstorableJob",
    "broker_of",
    "purge_jobs",
    "request_cancel",
    "resolve",
    "retry",
]
