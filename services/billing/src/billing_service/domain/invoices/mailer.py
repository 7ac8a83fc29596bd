"""The port to the mail server and to the mailbox that shows what it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class MailNotSent(Exception):
    """The server did not take the mail, or did not say so; the text names no address.

    MailNotSent
    ├── MailRefused        definitive: the server refused it, it went nowhere
    └── MailUnavailable    unknown: it may have been taken before the answer was lost
    """


class MailRefused(MailNotSent):
    """Definitive: the server refused it."""


class MailUnavailable(MailNotSent):
    """Unknown: no connection, no answer, or an answer that says nothing about the mail."""


class MailboxUnavailable(Exception):
    """The mailbox could not be looked into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A text with a PDF attached. `message_id` (RFC 5322, with its angle brackets) is the same at every try."""

    message_id: str
    to: str
    subject: str
    text: str
    file_name: str
    pdf: bytes


class Mailer(Protocol):
    """Sends mails. No method may be called while a transaction is open."""

    async def send(self, mail: Mail) -> None:
        """Hand the mail to the server. Raises `MailRefused`, `MailUnavailable`."""
        ...

    async def took(self, message_id: str) -> bool:
        """Whether the mailbox shows that such a mail was taken. False where there is no mailbox to look into.

        Raises `MailboxUnavailable`.
        """
        ...
