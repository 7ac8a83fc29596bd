"""Why a message is refused before it reaches the outbox.

Refused here, the caller's transaction rolls back with a clear error. Accepted and found unsendable later, the row
would block its key until a person looks at it.

MessageRefused
├── NulCharacter                        text that neither jsonb nor a text column of a reader can hold
├── UnencodableText                     half a surrogate pair
├── MessageTooLarge                     payload, key or headers beyond what the broker takes
├── TooManyMessages                     more messages in one transaction than it may lock keys for
├── event_bus.UnencodableEvent          NaN, Infinity or half a surrogate pair: no JSON that every reader accepts
└── event_bus.NotThisServicesEvent      not an event class, or one that another service publishes
"""

from __future__ import annotations


class MessageRefused(ValueError):
    """The message cannot be carried. Nothing was written; the transaction must not commit without it."""


class NulCharacter(MessageRefused):
    """A NUL character stands in the message."""


class UnencodableText(MessageRefused):
    """A text of the message is no valid Unicode."""


class MessageTooLarge(MessageRefused):
    """The message is larger than its limit."""


class TooManyMessages(MessageRefused):
    """One transaction gathered more messages than `append` allows."""
