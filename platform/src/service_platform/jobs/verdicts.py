"""How a step ends its run other than by an error."""

from __future__ import annotations


class NeedsReview(Exception):
    """A step raises it when no machine can decide how the job goes on; `reason` tells a person why.

    The processor sets the job `needs_review` with that reason, and nothing claims it any more: an operator retries it
    or resolves it. It rolls back the transaction that it leaves, as any error: what must be kept is committed before.
    A process that dies in between leaves the job to the next run, which finds the same and raises it again.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class JobCancelled(Exception):
    """The run ends here because somebody asked to cancel the job. See `JobRun.safe_point`."""
