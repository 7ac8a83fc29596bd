"""What publishing and consuming refuse. The whole tree of publishing is drawn in `outbox.errors`.

ConsumeError
├── Unparsable              the message is not what its headers or our event class say
├── ClaimNotAcquired        the handler returned, and no transaction has committed with the delivery's claim
└── HandlerCancelled        something that the handler waited for was cancelled, and the handler was not
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
    """The handler returned, and no `transaction(claim=delivery.claim)` has committed.

    It used another transaction, and a redelivery would take effect again; or it swallowed the error that rolled its
    own back, and the event would be lost.
    """


class HandlerCancelled(ConsumeError):
    """The handler let out a `CancelledError`, although nobody gave its work up: a failure like any other."""
