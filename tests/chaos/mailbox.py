"""The mailbox as its readers see it."""

from __future__ import annotations

from collections.abc import Iterable

from demo.records import MailRecord


def seen_once(mails: Iterable[MailRecord]) -> list[MailRecord]:
    """Without the repetitions of a mail: the same Message-ID, receiver, subject, text and attachments.

    A worker that stood still within its call may send again what its successor sent, since SMTP knows no repetition
    (services/billing/README.md). Mail programs show such mails as one. Two that differ stay two.
    """
    said: dict[object, MailRecord] = {}
    for mail in mails:
        said.setdefault((mail.message_id, mail.to, mail.subject, mail.text, mail.attachments), mail)
    return [*said.values()]
