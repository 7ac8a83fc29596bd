"""The inbox: what a consumer has handled, what it will try again and in which order, and what it gave up."""

from .claim import InboxClaim, RetryClaim
from .dead_letter_copy import dead_letter_topic_of
from .dead_letters import DeadLetter, DeadLetterOffice, PendingRetry, dead_letters, pending_retries
from .errors import (
    AlreadyBuried,
    AlreadyHandled,
    AlreadyRetrying,
    DeadLetterNameless,
    DeadLetterNotFound,
    DeadLetterResolved,
    DeliveryRefused,
    KeyBlocked,
    StaleWakeUp,
)
from .incoming import IncomingEvent
from .ledger import RetryLedger, RetryPolicy
from .overdue import OverdueRetries
from .purge import purge_inbox
from .wake_up import WakeUp, retry_topic_of

__all__ = [
    "AlreadyBuried",
    "AlreadyHandled",
    "AlreadyRetrying",
    "DeadLetter",
    "DeadLetterNameless",
    "DeadLetterNotFound",
    "DeadLetterOffice",
    "DeadLetterResolved",
    "DeliveryRefused",
    "InboxClaim",
    "IncomingEvent",
    "KeyBlocked",
    "OverdueRetries",
    "PendingRetry",
    "RetryClaim",
    "RetryLedger",
    "RetryPolicy",
    "StaleWakeUp",
    "WakeUp",
    "dead_letter_topic_of",
    "dead_letters",
    "pending_retries",
    "purge_inbox",
    "retry_topic_of",
]
