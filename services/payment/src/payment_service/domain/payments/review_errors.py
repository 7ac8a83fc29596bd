"""Why a person's decision about what needs review is refused. Each says what to do about it.

DomainError
├── NotFound ── UnknownRefund            no refund has this id
├── Unavailable ── LedgerAway            the provider does not answer
└── Conflict
    ├── NotUnderReview                   somebody or something has decided, or it never needed a person
    ├── LedgerDisagrees                  the provider has no such object, or shows one that we do not know
    ├── OthersWereTold                   other services know another end of it, and nothing takes that back
    ├── CaptureNotShown                  "settled", but the ledger shows no capture of this amount
    ├── MoneyStillHeld                   "declined", but money was captured and not all of it went back
    ├── IntentStillOpen                  "declined", but the intent could still capture
    ├── RefundNotShown                   "done", but the ledger shows no such refund
    ├── RefundShown                      "failed", but the ledger shows it
    └── RefundMayStillCome               "failed", but a call that was sent may still make it
"""

from __future__ import annotations

from typing import ClassVar

from service_platform.errors import Conflict, NotFound, Unavailable

from .review_messages import MESSAGES


class UnknownRefund(NotFound, messages=MESSAGES):
    """No payment has a refund of this id."""

    slug = "unknown-refund"
    example: ClassVar = {"refund_id": "5f7a8b9c-1d2e-4f3a-8b4c-5d6e7f8a9b0c"}


class LedgerAway(Unavailable, messages=MESSAGES):
    """The provider does not answer, so nothing can be decided."""

    slug = "ledger-away"


class NotUnderReview(Conflict, messages=MESSAGES):
    """It is in the state `state`, or has changed since it was looked at."""

    slug = "not-under-review"
    example: ClassVar = {"state": "settled"}


class LedgerDisagrees(Conflict, messages=MESSAGES):
    """The provider answered `code` for `reference`."""

    slug = "ledger-disagrees"
    example: ClassVar = {"reference": "pi_3Nk2", "code": "resource_missing"}


class OthersWereTold(Conflict, messages=MESSAGES):
    """Other services were told that it is `told`."""

    slug = "others-were-told"
    example: ClassVar = {"told": "settled"}


class CaptureNotShown(Conflict, messages=MESSAGES):
    """The ledger shows `intent` as `intent_status` with `captured_minor`, and the payment is of `amount_minor`."""

    slug = "capture-not-shown"
    example: ClassVar = {"intent": "pi_3Nk2", "intent_status": "unconfirmed", "captured_minor": 0, "amount_minor": 1999}


class MoneyStillHeld(Conflict, messages=MESSAGES):
    """`intent` captured `captured_minor`, of which `given_back_minor` went back."""

    slug = "money-still-held"
    example: ClassVar = {"intent": "pi_3Nk2", "captured_minor": 1999, "given_back_minor": 700}


class IntentStillOpen(Conflict, messages=MESSAGES):
    """`intent` is `intent_status`: it could still capture."""

    slug = "intent-still-open"
    example: ClassVar = {"intent": "pi_3Nk2", "intent_status": "unconfirmed"}


class RefundNotShown(Conflict, messages=MESSAGES):
    """The ledger shows `shown` where a refund of `amount_minor` is needed that succeeded and is no other refund's."""

    slug = "refund-not-shown"
    example: ClassVar = {"shown": "re_3Nk2: 500 EUR, succeeded", "amount_minor": 700}


class RefundShown(Conflict, messages=MESSAGES):
    """The ledger shows the refund `reference` as `refund_status`."""

    slug = "refund-shown"
    example: ClassVar = {"reference": "re_3Nk2", "refund_status": "succeeded"}


class RefundMayStillCome(Conflict, messages=MESSAGES):
    """Until `until` the provider remembers the key, and a call that was under way could make the refund."""

    slug = "refund-may-still-come"
    example: ClassVar = {"until": "2026-03-02T09:45:00+00:00"}
