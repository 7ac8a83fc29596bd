"""The transactional outbox: messages commit with the change that caused them, and a relay delivers them after."""

from .append import append
from .errors import MessageRefused, MessageTooLarge, NulCharacter, TooManyMessages
from .message import MAX_PAYLOAD_BYTES, Channel, OutboxMessage, OutboxRow
from .relay import Relay
from .sink import Delivered, Sink, SinkUnavailable
from .wake_up import WakeUp

__all__ = [
    "MAX_PAYLOAD_BYTES",
    "Channel",
    "Delivered",
    "MessageRefused",
    "MessageTooLarge",
    "NulCharacter",
    "OutboxMessage",
    "OutboxRow",
    "Relay",
    "Sink",
    "SinkUnavailable",
    "TooManyMessages",
    "WakeUp",
    "append",
]
