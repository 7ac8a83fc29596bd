"""The SMTP side: a mail is kept, then answered with 250."""

from aiosmtpd.smtp import SMTP, Envelope, Session

from mail_catcher.faults import Faults
from mail_catcher.mailbox import Mailbox

MAX_BYTES = 25 * 1024 * 1024


class Receiver:
    """An aiosmtpd handler; `protocol` makes one SMTP conversation."""

    def __init__(self, mailbox: Mailbox, faults: Faults) -> None:
        self._mailbox = mailbox
        self._faults = faults

    def protocol(self) -> SMTP:
        return SMTP(
            self, data_size_limit=MAX_BYTES, enable_SMTPUTF8=True, hostname="mail-catcher", ident="mail catcher"
        )

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd
        content = envelope.content
        if not isinstance(content, bytes):
            raise TypeError("the conversation is set up to hand over bytes")
        rule = self._faults.take(envelope.rcpt_tos)
        if rule is not None and rule.outcome == "refuse":
            return rule.reply
        if rule is not None and rule.outcome == "drop":
            _cut(server)
        identifier = self._mailbox.keep(content, envelope.rcpt_tos)
        if rule is not None:
            _cut(server)
        return f"250 2.0.0 Ok: queued as {identifier}"


def _cut(server: SMTP) -> None:
    """End the conversation as a broken network does."""
    if server.transport is not None:
        server.transport.abort()  # type: ignore[attr-defined]
    raise ConnectionResetError("cut on demand")
