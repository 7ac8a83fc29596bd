"""Why a delivery does not run, and why an operator's wish about a dead letter is refused.

ClaimRefused
└── DeliveryRefused
    ├── AlreadyHandled      it took effect before
    ├── AlreadyRetrying     the retry ledger owns it
    ├── AlreadyBuried       its dead letter was not requeued
    ├── KeyBlocked          an earlier event of its key waits in the ledger: it must be appended behind
    └── StaleWakeUp         a wake-up that names no head, an attempt that is over, or comes too early

DomainError
├── NotFound ── DeadLetterNotFound
└── Conflict ─┬ DeadLetterResolved      it was requeued or discarded before
              └ DeadLetterNameless      its headers name no event, so there is no consumer to give it to
"""

from __future__ import annotations

from typing import ClassVar

from service_platform.database import ClaimRefused
from service_platform.errors import Conflict, NotFound

from .messages import MESSAGES


class DeliveryRefused(ClaimRefused):
    """This delivery is not to take effect now. Nothing of it happened."""


class AlreadyHandled(DeliveryRefused):
    """This consumer has handled this event: the delivery is a duplicate and changes nothing."""


class AlreadyRetrying(DeliveryRefused):
    """The retry ledger holds this event and will run it in its turn."""


class AlreadyBuried(DeliveryRefused):
    """The event is a dead letter of this consumer and waits for an operator."""


class KeyBlocked(DeliveryRefused):
    """An earlier event of the same key is in the retry ledger: this one goes behind it."""


class StaleWakeUp(DeliveryRefused):
    """The wake-up does not name the head of its key, or not its current attempt, or comes before it is due."""


class DeadLetterNotFound(NotFound, messages=MESSAGES):
    """There is no dead letter with this id."""

    slug = "dead-letter-not-found"
    example: ClassVar = {"dead_letter_id": "6c2e8f10-94b7-4d3a-a5c8-0e1f2d3c4b5a"}


class DeadLetterResolved(Conflict, messages=MESSAGES):
    """The dead letter was requeued or discarded before."""

    slug = "dead-letter-resolved"
    example: ClassVar = {"dead_letter_id": "6c2e8f10-94b7-4d3a-a5c8-0e1f2d3c4b5a", "state": "requeued"}


class DeadLetterNameless(Conflict, messages=MESSAGES):
    """The record's headers name no event, so no consumer can be asked to handle it again."""

    slug = "dead-letter-nameless"
    example: ClassVar = {"dead_letter_id": "6c2e8f10-94b7-4d3a-a5c8-0e1f2d3c4b5a"}
