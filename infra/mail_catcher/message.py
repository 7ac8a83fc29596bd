"""Reading a mail as Mailpit shows it: addresses, texts, and parts with their numbers."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import Message
from typing import Any

Address = dict[str, str]

_SNIPPET_LENGTH = 250


@dataclass(frozen=True, slots=True)
class Part:
    """A leaf of the MIME tree. `id` counts from 1 at each level, joined by dots; the root of the mail is 0."""

    id: str
    file_name: str
    content_type: str
    content_id: str
    inline: bool
    content: bytes

    def summary(self) -> dict[str, Any]:
        return {
            "PartID": self.id,
            "FileName": self.file_name or self.content_id,
            "ContentType": self.content_type,
            "ContentID": self.content_id,
            "Size": len(self.content),
            "Checksums": {
                "MD5": hashlib.md5(self.content, usedforsecurity=False).hexdigest(),
                "SHA1": hashlib.sha1(self.content, usedforsecurity=False).hexdigest(),
                "SHA256": hashlib.sha256(self.content).hexdigest(),
            },
        }


class Mail:
    """A parsed mail. `recipients` are those of the envelope: who is in no header was a blind copy.

    The head is parsed by the modern policy, which decodes everything; the MIME tree by the old one, because the modern
    policy parses a part's headers again at every look, which doubles the cost of a mail with an attachment.
    """

    def __init__(self, raw: bytes, recipients: list[str]) -> None:
        head, separator, _ = raw.partition(b"\r\n\r\n")
        self._head = message_from_bytes(head + separator, policy=policy.default)
        self._recipients = recipients
        self._text: str | None = None
        self._html: str | None = None
        self.files: list[Part] = []
        for identifier, part in _leaves(message_from_bytes(raw, policy=policy.compat32)):
            self._take(identifier, part)

    @property
    def message_id(self) -> str:
        """Without the angle brackets."""
        return str(self._head.get("Message-ID", "")).strip().strip("<>")

    @property
    def subject(self) -> str:
        return str(self._head.get("Subject", ""))

    @property
    def text(self) -> str:
        return self._text or ""

    @property
    def html(self) -> str:
        return self._html or ""

    @property
    def snippet(self) -> str:
        return " ".join(self.text.split())[:_SNIPPET_LENGTH]

    @property
    def attachments(self) -> list[Part]:
        return [part for part in self.files if not part.inline]

    def sent_at(self) -> datetime | None:
        """The Date header, or None where there is none or it is no date."""
        date: datetime | None = getattr(self._head.get("Date"), "datetime", None)
        return date

    def addresses(self) -> dict[str, Any]:
        """From, To, Cc, Bcc and ReplyTo; From is one address, the others are lists."""
        to, copies, blind = (self._addresses(name) for name in ("To", "Cc", "Bcc"))
        named = {address["Address"].lower() for address in [*to, *copies, *blind]}
        blind += [{"Name": "", "Address": address} for address in self._recipients if address.lower() not in named]
        return {
            "From": next(iter(self._addresses("From")), {"Name": "", "Address": ""}),
            "To": to,
            "Cc": copies,
            "Bcc": blind,
            "ReplyTo": self._addresses("Reply-To"),
        }

    def _addresses(self, name: str) -> list[Address]:
        return [
            {"Name": address.display_name, "Address": address.addr_spec}
            for header in self._head.get_all(name, [])
            for address in header.addresses
        ]

    def _take(self, identifier: str, part: Message) -> None:
        disposition = part.get_content_disposition()
        content_type = part.get_content_type()
        payload = part.get_payload(decode=True)
        content = payload if isinstance(payload, bytes) else b""
        if disposition != "attachment" and content_type == "text/plain" and self._text is None:
            self._text = _decode(content, part)
        elif disposition != "attachment" and content_type == "text/html" and self._html is None:
            self._html = _decode(content, part)
        else:
            self.files.append(
                Part(
                    id=identifier,
                    file_name=str(make_header(decode_header(part.get_filename() or ""))),
                    content_type=content_type,
                    content_id=str(part.get("Content-ID", "")).strip("<>"),
                    inline=disposition == "inline",
                    content=content,
                )
            )


def _decode(content: bytes, part: Message) -> str:
    try:
        return content.decode(part.get_content_charset("utf-8"), errors="replace")
    except LookupError:
        return content.decode("utf-8", errors="replace")


def _leaves(message: Message, identifier: str = "0") -> Iterator[tuple[str, Message]]:
    children = message.get_payload()
    if not isinstance(children, list):
        yield identifier, message
        return
    prefix = "" if identifier == "0" else f"{identifier}."
    for number, part in enumerate(children, start=1):
        if isinstance(part, Message):
            yield from _leaves(part, f"{prefix}{number}")
