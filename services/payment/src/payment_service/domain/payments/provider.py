"""The port to the card provider, and everything that can go wrong behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from service_platform.jobs import RunKey

from .models import Intent


class ProviderError(Exception):
    """A call to the card provider that did not do what it should; the text names neither card nor secret.

    ProviderError
    ├── CardDeclined            definitive: this call moved no money, the card or the method was refused
    ├── IntentStateConflict     definitive: the intent's state does not allow the call; reading it decides
    ├── ProviderUnavailable     unknown: the effect may or may not have happened; try again later
    └── NeedsReview             definitive: no repetition can help, a person has to look
    """


class CardDeclined(ProviderError):
    """The card or payment method was refused; `reason` is the provider's code for it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class IntentStateConflict(ProviderError):
    """The intent is in a state that does not allow the call, for instance because it already succeeded."""


class ProviderUnavailable(ProviderError):
    """No answer, or one that says nothing about the effect: outage, time limit, rate limit, refused credentials."""


class NeedsReview(ProviderError):
    """The provider refuses the request itself, or answers what we do not know; `reason` is its code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentRequest:
    """What an intent is made of. Payment and order id go into its metadata, so that a reconcile can find it."""

    payment_id: UUID
    order_id: UUID
    amount_minor: int
    currency: str
    payment_method: str


class CardProvider(Protocol):
    """A provider whose intents capture at most once each, whoever confirms them and however often.

    Every method may raise `ProviderUnavailable` and `NeedsReview`. None may be called while a transaction is open.
    Amounts are minor units.
    """

    async def create_intent(self, request: IntentRequest, key: RunKey) -> Intent:
        """A new unconfirmed intent; moves no money. Raises `CardDeclined` for an unusable payment method."""
        ...

    async def confirm_intent(self, intent_id: str, key: RunKey) -> Intent:
        """Capture the intent as it was created. Raises `CardDeclined`, `IntentStateConflict`."""
        ...

    async def cancel_intent(self, intent_id: str, key: RunKey) -> Intent:
        """Make sure that the intent can never capture. Raises `IntentStateConflict`."""
        ...

    async def retrieve_intent(self, intent_id: str) -> Intent:
        """The intent as it stands now; changes nothing."""
        ...
