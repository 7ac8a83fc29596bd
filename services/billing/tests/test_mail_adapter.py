"""The mail adapter against a real SMTP conversation and the mailbox's API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from email.headerregistry import Address

import httpx
import pytest

from billing_service.domain.invoices import Mail, MailboxUnavailable, MailRefused, MailUnavailable
from billing_service.integrations import SmtpMailer
from mail_catcher.testing import MailProcess
from native.standalone import free_port
from service_platform.database import ExternalCallInTransaction
from service_platform.testing.database import FakeDatabase

SENDER = Address("Cửa hàng Fencepost", addr_spec="billing@fencepost.example")
MAIL = Mail(
    message_id="<invoice.1@fencepost.example>",
    to="ann@example.com",
    subject="Hóa đơn INV-2026-000001 của quý khách",
    text="Xin chào quý khách,\n\nTổng cộng: 32,50\N{NO-BREAK SPACE}USD\n",
    file_name="INV-2026-000001.pdf",
    pdf=b"%PDF-1.4\n" + bytes(range(256)) * 100,
)


@pytest.fixture(scope="module")
def mail_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailProcess]:
    process = MailProcess(tmp_path_factory.mktemp("mail"))
    process.start()
    yield process
    process.stop()


@pytest.fixture
async def mailbox(mail_process: MailProcess) -> AsyncIterator[httpx.AsyncClient]:
    """The API of a mailbox that is empty."""
    async with httpx.AsyncClient(base_url=mail_process.url, timeout=10, trust_env=False) as client:
        (await client.request("DELETE", "/api/v1/messages")).raise_for_status()
        yield client


@pytest.fixture
async def mailer(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> AsyncIterator[SmtpMailer]:
    mailer = SmtpMailer(host="127.0.0.1", port=mail_process.smtp_port, sender=SENDER, mailbox_url=mail_process.url)
    yield mailer
    await mailer.close()


async def test_a_mail_arrives_as_it_was_written(mailer: SmtpMailer, mailbox: httpx.AsyncClient) -> None:
    assert not await mailer.took(MAIL.message_id)
    await mailer.send(MAIL)
    assert await mailer.took(MAIL.message_id)
    (summary,) = (await mailbox.get("/api/v1/messages")).json()["messages"]
    message = (await mailbox.get(f"/api/v1/message/{summary['ID']}")).json()
    assert message["Subject"] == MAIL.subject
    assert message["From"] == {"Name": "Cửa hàng Fencepost", "Address": "billing@fencepost.example"}
    assert [to["Address"] for to in message["To"]] == ["ann@example.com"]
    assert message["Text"].replace("\r\n", "\n") == MAIL.text
    (attachment,) = message["Attachments"]
    assert (attachment["FileName"], attachment["ContentType"]) == ("INV-2026-000001.pdf", "application/pdf")
    part = await mailbox.get(f"/api/v1/message/{summary['ID']}/part/{attachment['PartID']}")
    assert part.content == MAIL.pdf


async def test_a_part_of_an_id_is_not_that_mail(mailer: SmtpMailer) -> None:
    await mailer.send(MAIL)
    assert not await mailer.took("<1@fencepost.example>")


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"outcome": "refuse", "reply": "550 5.1.1 No such user"}, MailRefused),
        ({"outcome": "refuse", "reply": "451 4.3.0 Try later"}, MailUnavailable),
        ({"outcome": "drop"}, MailUnavailable),
    ],
)
async def test_what_the_server_did_not_take_is_an_error_and_not_in_the_mailbox(
    mailer: SmtpMailer, mailbox: httpx.AsyncClient, fault: dict[str, str], error: type[Exception]
) -> None:
    (await mailbox.post("/_double/faults", json=fault)).raise_for_status()
    with pytest.raises(error) as raised:
        await mailer.send(MAIL)
    assert "ann@example.com" not in str(raised.value)
    assert not await mailer.took(MAIL.message_id)


async def test_a_mail_whose_answer_is_lost_is_seen_in_the_mailbox(
    mailer: SmtpMailer, mailbox: httpx.AsyncClient
) -> None:
    (await mailbox.post("/_double/faults", json={"outcome": "store_and_drop"})).raise_for_status()
    with pytest.raises(MailUnavailable):
        await mailer.send(MAIL)
    assert await mailer.took(MAIL.message_id)


async def test_a_server_that_is_away_is_unknown_and_so_is_its_mailbox() -> None:
    nowhere = free_port()
    mailer = SmtpMailer(host="127.0.0.1", port=nowhere, sender=SENDER, mailbox_url=f"http://127.0.0.1:{nowhere}")
    with pytest.raises(MailUnavailable):
        await mailer.send(MAIL)
    with pytest.raises(MailboxUnavailable):
        await mailer.took(MAIL.message_id)
    await mailer.close()


async def test_without_a_mailbox_nothing_is_seen(mail_process: MailProcess) -> None:
    mailer = SmtpMailer(host="127.0.0.1", port=mail_process.smtp_port, sender=SENDER, mailbox_url=None)
    await mailer.send(MAIL)
    assert not await mailer.took(MAIL.message_id)


async def test_neither_mail_nor_look_is_possible_inside_a_transaction(mailer: SmtpMailer) -> None:
    async with FakeDatabase().transaction():
        with pytest.raises(ExternalCallInTransaction):
            await mailer.send(MAIL)
        with pytest.raises(ExternalCallInTransaction):
            await mailer.took(MAIL.message_id)
