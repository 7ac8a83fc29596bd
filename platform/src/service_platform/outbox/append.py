"""Gathering messages in a transaction and writing them as its last act."""

from __future__ import annotations

import orjson

from service_platform.database import Transaction, TransactionPart

from .errors import TooManyMessages
from .message import Channel, OutboxMessage

# Each distinct key takes one advisory lock; the server's lock table has room for several thousand over all sessions.
MAX_MESSAGES = 1000

_APPEND = "SELECT outbox_append($1, $2, $3, $4, $5, $6, $7, $8)"


def append(message: OutboxMessage, tx: Transaction) -> None:
    """Have `message` delivered if and only if `tx` commits. Writes nothing yet.

    Raises `MessageRefused` for a message that cannot be carried.
    """
    message.check()
    tx.part(OutboxPart).add(message)


class OutboxPart(TransactionPart):
    """A transaction's messages, written by one statement right before COMMIT.

    Writing last is the guarantee: `outbox_append` first takes the lock of every ordering key, in one sorted order,
    and only then numbers the rows. Between the lock and the commit of a transaction nothing else runs, so

    - rows of one key are numbered in the order in which their transactions commit, and a row can never become
      visible below a number of its key that a relay has already passed;
    - a transaction waits for another one's COMMIT at most, never for its business work;
    - two transactions cannot deadlock: they take these locks in one order and nothing after them.
    """

    def __init__(self) -> None:
        self._messages: list[OutboxMessage] = []
        self._written = False

    def add(self, message: OutboxMessage) -> None:
        if self._written:
            raise RuntimeError(
                "append() after the outbox was written would lose the message: call it inside the transaction's block, "
                "not in another part's before_commit"
            )
        if len(self._messages) >= MAX_MESSAGES:
            raise TooManyMessages(f"one transaction carries at most {MAX_MESSAGES} messages: split the work in batches")
        self._messages.append(message)

    def channels(self) -> set[Channel]:
        """The channels that have something to deliver now that the transaction has committed."""
        return {message.channel for message in self._messages if message.not_before is None}

    async def before_commit(self, tx: Transaction) -> None:
        self._written = True
        if not self._messages:
            return
        driver = await tx.driver()
        await driver.execute(
            _APPEND,
            [message.channel for message in self._messages],
            [message.destination for message in self._messages],
            [message.consumer for message in self._messages],
            [message.key for message in self._messages],
            [message.message_id for message in self._messages],
            [orjson.dumps(dict(message.headers)).decode() for message in self._messages],
            [message.payload for message in self._messages],
            [message.not_before for message in self._messages],
        )
