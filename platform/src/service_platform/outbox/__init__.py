"""The transactional outbox: messages commit with the change that caused them, and a relay delivers them after."""

from .append import append
from .errors import MessageRefused, MessageTooLarge, NulCharacter, TooManyMessages, UnencodableText
from .message import MAX_KEY_BYTES, MAX_PAYLOAD_BYTES, Channel, OutboxMessage, OutboxRow
from .relay import Relay
from .sink import Delivered, Sink, SinkOverran, SinkUnavailable
from .wake_up import WakeUp

__all__ = [
    "MAX_KEY_BYTES",
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
    "SinkOverran",
    "SinkUnavailable",
    "TooManyMessages",
    "UnencodableText",
    "WakeUp",
    "append",
]
