"""What to ask the provider about a stored intent, in which order. Stores nothing.

The payment must be `confirming` (committed) before any of this runs: from then on money may move.
"""

from __future__ import annotations

from service_platform.jobs import RunKey

from .models import Intent, IntentStatus
from .provider import CardDeclined, CardProvider, IntentStateConflict


async def confirmed(provider: CardProvider, intent_id: str, key: RunKey, *, was_confirming: bool) -> Intent:
    """Confirm the intent unless that is done already; the intent as the provider last showed it.

    `was_confirming`: an earlier run may have confirmed it, so it is read first. What succeeded then is not confirmed
    again, and neither is what was declined. A refused confirmation is never believed: reading the intent decides.
    """
    if was_confirming:
        intent = await provider.retrieve_intent(intent_id)
        if intent.status is not IntentStatus.UNCONFIRMED:
            return intent
    try:
        return await provider.confirm_intent(intent_id, key)
    except (CardDeclined, IntentStateConflict):
        return await provider.retrieve_intent(intent_id)


async def closed(provider: CardProvider, intent_id: str, key: RunKey, *, cancel_recorded: bool) -> Intent:
    """Cancel the intent if it is declined, or unconfirmed and not wanted any more; the intent as last shown.

    A declined intent can be confirmed again, by a call of a stale worker that is still in flight, and an unconfirmed
    one can be confirmed. Only the provider's answer to the cancel says whether that happened before.
    """
    intent = await provider.retrieve_intent(intent_id)
    unwanted = cancel_recorded and intent.status is IntentStatus.UNCONFIRMED
    if intent.status is not IntentStatus.DECLINED and not unwanted:
        return intent
    return await cancelled(provider, intent_id, key)


async def cancelled(provider: CardProvider, intent_id: str, key: RunKey) -> Intent:
    """Cancel the intent, or see what made that impossible."""
    try:
        return await provider.cancel_intent(intent_id, key)
    except IntentStateConflict:
        return await provider.retrieve_intent(intent_id)
