"""Reading a mail as Mailpit shows it: addresses, texts, and parts with their numbers."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
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
    """A parsed mail. `recipients` are those of the envelope: who is in no header was a blind copy."""

    def __init__(self, raw: bytes, recipients: list[str]) -> None:
        parsed = message_from_bytes(raw, policy=policy.default)
        self._message: EmailMessage = parsed
        self._recipients = recipients
        self._text: str | None = None
        self._html: str | None = None
        self.files: list[Part] = []
        for identifier, part in _leaves(parsed):
            self._take(identifier, part)

    @property
    def message_id(self) -> str:
        """Without the angle brackets."""
        return str(self._message.get("Message-ID", "")).strip().strip("<>")

    @property
    def subject(self) -> str:
        return str(self._message.get("Subject", ""))

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
        header = self._message.get("Date")
        date: datetime | None = getattr(header, "datetime", None)
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
            for header in self._message.get_all(name, [])
            for address in header.addresses
        ]

    def _take(self, identifier: str, part: EmailMessage) -> None:
        disposition = part.get_content_disposition()
        content_type = part.get_content_type()
        if disposition != "attachment" and content_type == "text/plain" and self._text is None:
            self._text = part.get_content()
        elif disposition != "attachment" and content_type == "text/html" and self._html is None:
            self._html = part.get_content()
        else:
            payload = part.get_payload(decode=True)
            self.files.append(
                Part(
                    id=identifier,
                    file_name=part.get_filename() or "",
                    content_type=content_type,
                    content_id=str(part.get("Content-ID", "")).strip("<>"),
                    inline=disposition == "inline",
                    content=payload if isinstance(payload, bytes) else b"",
                )
            )


def _leaves(message: EmailMessage, identifier: str = "0") -> Iterator[tuple[str, EmailMessage]]:
    if not message.is_multipart():
        yield identifier, message
        return
    prefix = "" if identifier == "0" else f"{identifier}."
    for number, part in enumerate(message.iter_parts(), start=1):
        if isinstance(part, EmailMessage):
            yield from _leaves(part, f"{prefix}{number}")
