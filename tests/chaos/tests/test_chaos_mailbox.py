"""A mail that came twice is one mail, and two that differ are two."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from chaos.mailbox import seen_once
from demo.records import Attachment, MailRecord

AT = datetime(2026, 1, 1, tzinfo=UTC)
MAIL = MailRecord(
    id="1",
    message_id="<invoice-1@fencepost.example>",
    to=("ann@example.com",),
    subject="Your invoice INV-2026-000001",
    text="29.33 USD",
    attachments=(Attachment("INV-2026-000001.pdf", "application/pdf", 13_000),),
    received_at=AT,
)


def test_the_same_mail_is_seen_once_and_another_one_under_its_id_as_well() -> None:
    again = replace(MAIL, id="2", received_at=AT + timedelta(seconds=40))
    other_amount = replace(MAIL, id="3", text="30.33 USD")
    other_id = replace(MAIL, id="4", message_id="<invoice-2@fencepost.example>")

    assert seen_once([MAIL, again, other_amount, other_id]) == [MAIL, other_amount, other_id]
