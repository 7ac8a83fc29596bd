"""A mail that was answered with 250 is kept."""

import smtplib
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx

from mail_catcher.testing import MailProcess

SENDERS = 3
ENOUGH = 60


def test_a_kill_9_loses_no_mail_that_was_answered_with_250(own_catcher: MailProcess) -> None:
    accepted: list[str] = []
    enough = threading.Event()

    def send_until_cut(sender: int) -> None:
        with smtplib.SMTP("127.0.0.1", own_catcher.smtp_port, timeout=30) as smtp:
            for number in range(10_000):
                message_id = f"{sender}-{number}@x.example"
                source = f"From: a@x.example\r\nTo: b@x.example\r\nMessage-ID: <{message_id}>\r\n\r\ntext\r\n"
                try:
                    smtp.sendmail("a@x.example", ["b@x.example"], source)
                except (smtplib.SMTPException, ConnectionError):
                    return
                accepted.append(message_id)
                if len(accepted) >= ENOUGH:
                    enough.set()

    with ThreadPoolExecutor(SENDERS) as pool:
        sending = [pool.submit(send_until_cut, sender) for sender in range(SENDERS)]
        assert enough.wait(60), f"only {len(accepted)} mails were accepted in 60 s"
        own_catcher.kill()
        for sender in sending:
            sender.result()

    own_catcher.start()
    listed = httpx.get(f"{own_catcher.url}/api/v1/messages", params={"limit": 10_000}, verify=False).json()
    kept = [message["MessageID"] for message in listed["messages"]]
    assert set(accepted) <= set(kept)
    assert len(kept) == len(set(kept)) <= len(accepted) + SENDERS


def test_sigterm_ends_it_cleanly_within_5_seconds_although_a_sender_is_connected(own_catcher: MailProcess) -> None:
    with smtplib.SMTP("127.0.0.1", own_catcher.smtp_port, timeout=30) as smtp:
        assert smtp.noop()[0] == 250
        assert own_catcher.stop() == 0
        smtp.close()
