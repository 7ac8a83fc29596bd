"""The port to the card provider, and everything that can go wrong behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from service_platform.jobs import RunKey

from .models import Intent
from .refund_models import ProviderRefund

ItemT = TypeVar("ItemT")


class ProviderError(Exception):
    """A call to the card provider that did not do what it should; the text names neither card nor secret.

    ProviderError
    ├── CardDeclined            definitive: this call moved no money, the card or the method was refused
    ├── IntentStateConflict     definitive: the intent's state does not allow the call; reading it decides
    ├── ProviderUnavailable     unknown: the effect may or may not have happened; try again later, with the same key
    │   └── FailureKept         the provider gave an error that it keeps for the key: the same key gets it for a day
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


class FailureKept(ProviderUnavailable):
    """The answer was an error that the provider had kept for this key, so no call with it can have an effect any more.

    What an earlier call with the key did is not said: look. `code` is the provider's.
    """

    def __init__(self, code: str) -> None:
        super().__init__(f"the provider keeps an error for the key: {code}")
        self.code = code


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundRequest:
    """What a refund is made of. Our refund id goes into its metadata, so that a list can show it.

    Two requests for one refund are equal to the letter, as repeating a key demands.
    """

    refund_id: UUID
    payment_id: UUID
    intent_id: str
    amount_minor: int


@dataclass(frozen=True, slots=True)
class Page(Generic[ItemT]):
    """A part of a list, newest first; `after` is where the next part begins, None at the end."""

    items: Sequence[ItemT]
    after: str | None


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

    async def list_intents(self, since: datetime, after: str | None = None) -> Page[Intent]:
        """Every intent that was created since then, as each stands now."""
        ...

    async def create_refund(self, request: RefundRequest, key: RunKey) -> ProviderRefund:
        """Give money back: this call moves it. One key moves it once, for as long as the provider keeps keys (24 h).

        Raises `FailureKept`: only then may the same refund be tried under another key, and only if no list shows it.
        """
        ...

    async def retrieve_refund(self, reference: str) -> ProviderRefund:
        """The refund as it stands now; changes nothing."""
        ...

    async def list_refunds(
        self, *, intent_id: str | None = None, since: datetime | None = None, after: str | None = None
    ) -> Page[ProviderRefund]:
        """Every refund of the intent, or of all, that was created since then, as each stands now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What a signed webhook is believed: that the provider has an event of this id that concerns this intent, if any.

    Everything else in its body may be old, out of order or doubled, so nobody reads it.
    """

    event_id: str
    type: str
    intent_id: str | None


class WebhookVerifier(Protocol):
    """Knows the provider's signature."""

    def verified(self, payload: bytes, signature: str) -> Hint:
        """Raises `WebhookRefused` for what the provider did not sign, or not in the last minutes."""
        ...
