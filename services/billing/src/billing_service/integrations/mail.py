"""Mail over SMTP, and the mailbox over Mailpit's API. The only place that knows either client."""

from __future__ import annotations

from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from typing import Final

import aiosmtplib
import httpx

from billing_service.domain.invoices import Mail, MailboxUnavailable, MailRefused, MailUnavailable
from service_platform.database import forbid_in_transaction
from service_platform.telemetry import carrier

SEND_SECONDS: Final = 20.0
"""The longest that one mail may take, connecting included."""
LOOK_SECONDS: Final = 10.0
"""The longest that one look into the mailbox may take. With the mail it lies far below the job's deadline."""


class SmtpMailer:
    """`Mailer` over SMTP (RFC 5321), one connection a mail.

    `mailbox_url` is the address of a Mailpit-like API (https://mailpit.axllent.org/docs/api-v1/) on the server's
    mailbox; None where there is none, so that no mail can be found in it. Belongs to one event loop; close it at the
    end of the process.
    """

    def __init__(self, *, host: str, port: int, sender: Address, mailbox_url: str | None) -> None:
        self._host = host
        self._port = port
        self._sender = sender
        self._mailbox = httpx.AsyncClient(base_url=mailbox_url, timeout=LOOK_SECONDS) if mailbox_url else None

    async def close(self) -> None:
        if self._mailbox is not None:
            await self._mailbox.aclose()

    async def send(self, mail: Mail) -> None:
        forbid_in_transaction("mail server: send a mail")
        try:
            await aiosmtplib.send(
                _message(mail, self._sender), hostname=self._host, port=self._port, timeout=SEND_SECONDS
            )
        except aiosmtplib.SMTPRecipientsRefused as error:
            raise _sorted(max(refusal.code for refusal in error.recipients)) from error
        except aiosmtplib.SMTPResponseException as error:
            raise _sorted(error.code) from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise MailUnavailable(f"the mail server gave no answer: {type(error).__name__}") from error

    async def took(self, message_id: str) -> bool:
        forbid_in_transaction("mailbox: look for a mail")
        if self._mailbox is None:
            return False
        bare_id = message_id.strip("<>")
        try:
            answer = await self._mailbox.get(
                "/api/v1/search", params={"query": f'message-id:"{bare_id}"'}, headers=carrier()
            )
            answer.raise_for_status()
            found = answer.json()["messages"]
            return any(mail["MessageID"] == bare_id for mail in found)  # the search also finds parts of an id
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise MailboxUnavailable(f"the mailbox gave no usable answer: {type(error).__name__}") from error


def _sorted(code: int) -> MailRefused | MailUnavailable:
    """A reply by its code (RFC 5321, 4.2.1): 5yz is final, 4yz asks for another try."""
    if 500 <= code <= 599:
        return MailRefused(f"the mail server refused the mail: {code}")
    return MailUnavailable(f"the mail server did not take the mail now: {code}")


def _message(mail: Mail, sender: Address) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = Address(addr_spec=mail.to)
    message["Subject"] = mail.subject
    message["Date"] = datetime.now(UTC)
    message["Message-ID"] = mail.message_id
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office notes, please
    message.set_content(mail.text)
    message.add_attachment(mail.pdf, maintype="application", subtype="pdf", filename=mail.file_name)
    return message
