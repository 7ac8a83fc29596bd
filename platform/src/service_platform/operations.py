"""What operators can do in every service: the platform's actions, and those on the service's own ticks.

A service adds its own: `operator_actions(JOB_TICKS).with_own(…)`.
"""

from typing import Final

from service_platform.inbox.operations import (
    DISCARD_DEAD_LETTER,
    LIST_DEAD_LETTERS,
    LIST_RETRIES,
    REQUEUE_DEAD_LETTER,
    REQUEUE_DEAD_LETTERS,
    SHOW_DEAD_LETTER,
)
from service_platform.jobs.operations import (
    CANCEL_JOB,
    LIST_JOBS,
    RESOLVE_JOB,
    RETRY_JOB,
    RETRY_JOBS,
    SHOW_JOB,
    SHOW_JOB_BACKLOG,
)
from service_platform.ops import ActionRegistry
from service_platform.ops.operations import LIST_AUDIT
from service_platform.outbox.operations import (
    DISCARD_PARKED_MESSAGE,
    LIST_BLOCKED_KEYS,
    LIST_PARKED_MESSAGES,
    RELEASE_PARKED_MESSAGE,
    SHOW_BACKLOG,
)
from service_platform.ticks import JobTicks
from service_platform.ticks.operations import tick_actions

ACTIONS: Final = ActionRegistry(
    [
        LIST_DEAD_LETTERS,
        SHOW_DEAD_LETTER,
        REQUEUE_DEAD_LETTER,
        REQUEUE_DEAD_LETTERS,
        DISCARD_DEAD_LETTER,
        LIST_RETRIES,
        SHOW_BACKLOG,
        LIST_BLOCKED_KEYS,
        LIST_PARKED_MESSAGES,
        RELEASE_PARKED_MESSAGE,
        DISCARD_PARKED_MESSAGE,
        SHOW_JOB_BACKLOG,
        LIST_JOBS,
        SHOW_JOB,
        RETRY_JOB,
        RETRY_JOBS,
        CANCEL_JOB,
        RESOLVE_JOB,
        LIST_AUDIT,
    ]
)


def operator_actions(ticks: JobTicks) -> ActionRegistry:
    """All that operators can do in a service with these ticks: `ACTIONS`, and what there is to do about ticks."""
    return ACTIONS.with_own(*tick_actions(ticks))
