"""Deliveries that fail on demand, and what is kept of them."""

import smtplib

import httpx
import pytest

from mail_catcher.testing import MailProcess

SOURCE = b"From: a@x.example\r\nTo: b@x.example\r\nSubject: s\r\nMessage-ID: <m@x.example>\r\n\r\ntext\r\n"


def _send(process: MailProcess, to: str = "b@x.example") -> None:
    with smtplib.SMTP("127.0.0.1", process.smtp_port, timeout=30) as smtp:
        smtp.sendmail("a@x.example", [to], SOURCE)


async def _kept(mailbox: httpx.AsyncClient) -> int:
    total: int = (await mailbox.get("/api/v1/messages")).json()["total"]
    return total


async def test_the_next_n_mails_are_refused_and_not_kept(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> None:
    await mailbox.post("/_double/faults", json={"outcome": "refuse", "times": 2, "reply": "452 4.3.1 Full"})
    for _ in range(2):
        with pytest.raises(smtplib.SMTPDataError) as refused:
            _send(mail_process)
        assert (refused.value.smtp_code, refused.value.smtp_error) == (452, b"4.3.1 Full")
    assert await _kept(mailbox) == 0
    _send(mail_process)
    assert await _kept(mailbox) == 1


@pytest.mark.parametrize(("outcome", "kept"), [("drop", 0), ("store_and_drop", 1)])
async def test_a_dropped_conversation_keeps_the_mail_only_if_told_so(
    mail_process: MailProcess, mailbox: httpx.AsyncClient, outcome: str, kept: int
) -> None:
    await mailbox.post("/_double/faults", json={"outcome": outcome})
    with pytest.raises((smtplib.SMTPServerDisconnected, ConnectionError)):
        _send(mail_process)
    assert await _kept(mailbox) == kept
    _send(mail_process)
    assert await _kept(mailbox) == kept + 1


async def test_a_rule_meets_only_the_recipient_it_names(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> None:
    await mailbox.post("/_double/faults", json={"outcome": "refuse", "recipient": "c@x.example"})
    _send(mail_process, "b@x.example")
    with pytest.raises(smtplib.SMTPDataError):
        _send(mail_process, "c@x.example")
    assert (await mailbox.get("/_double/faults")).json() == []


async def test_a_rule_that_cannot_be_understood_is_refused(mailbox: httpx.AsyncClient) -> None:
    for wrong in ({"outcome": "bounce"}, {"outcome": "refuse", "reply": "250 fine"}, {"outcome": "drop", "n": 1}):
        assert (await mailbox.post("/_double/faults", json=wrong)).status_code == 422
