"""The transactional outbox: messages commit with the change that caused them, and a relay delivers them after."""

from .append import append
from .backlog import Backlog, BlockedKey, backlog, blocked_keys
from .errors import MessageRefused, MessageTooLarge, NulCharacter, TooManyMessages, UnencodableText
from .message import MAX_KEY_BYTES, MAX_PAYLOAD_BYTES, Channel, OutboxMessage, OutboxRow
from .parked import ParkedRow, RowNotParked, discard, parked_rows, release
from .purge import purge_outbox
from .relay import Relay
from .sink import Delivered, Sink, SinkOverran, SinkUnavailable
from .wake_up import WakeUp

__all__ = [
    "MAX_KEY_BYTES",
    "MAX_PAYLOAD_BYTES",
    "Backlog",
    "BlockedKey",
    "Channel",
    "Delivered",
    "MessageRefused",
    "MessageTooLarge",
    "NulCharacter",
    "OutboxMessage",
    "OutboxRow",
    "ParkedRow",
    "Relay",
    "RowNotParked",
    "Sink",
    "SinkOverran",
    "SinkUnavailable",
    "TooManyMessages",
    "UnencodableText",
    "WakeUp",
    "append",
    "backlog",
    "blocked_keys",
    "discard",
    "parked_rows",
    "purge_outbox",
    "release",
]
