"""What publishing and consuming refuse. The whole tree of publishing is drawn in `outbox.errors`.

ConsumeError
├── Unparsable              the message is not what its headers or our event class say
└── ClaimNotAcquired        the handler never opened its transaction with the delivery's claim
"""

from __future__ import annotations

from service_platform.outbox import MessageRefused


class UnencodableEvent(MessageRefused):
    """The event holds what JSON cannot carry: NaN, Infinity or half a surrogate pair."""


class NotThisServicesEvent(MessageRefused):
    """Not an event class, or one whose `source` is another service."""


class ConsumeError(Exception):
    """A message could not be handled."""


class Unparsable(ConsumeError):
    """Its headers or its payload cannot be read."""


class ClaimNotAcquired(ConsumeError):
    """The handler returned without `transaction(claim=delivery.claim)`: a redelivery would take effect again."""
