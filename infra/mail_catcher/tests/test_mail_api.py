"""What a sent mail looks like through Mailpit's API."""

from email.message import EmailMessage
from email.utils import make_msgid

import aiosmtplib
import httpx
import pytest

from mail_catcher.testing import MailProcess

PDF = b"%PDF-1.7\r\n\x00\xff binary"


def _mail(subject: str = "Hoá đơn 2026-7", message_id: str | None = None, to: str = "ann@shop.example") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Fencepost Billing <billing@fencepost.example>"
    mail["To"] = f"Ann Ă <{to}>"
    mail["Subject"] = subject
    mail["Message-ID"] = message_id or make_msgid(domain="fencepost.example")
    mail["Date"] = "Sun, 29 Nov 2026 10:00:00 +0700"
    mail.set_content("Cảm ơn bạn.\n.a line that starts with a dot\n")
    mail.add_alternative("<p>Cảm ơn <b>bạn</b>.</p>", subtype="html")
    mail.add_attachment(PDF, maintype="application", subtype="pdf", filename="INV-2026-7.pdf")
    return mail


async def _send(process: MailProcess, *mails: EmailMessage, recipients: list[str] | None = None) -> None:
    async with aiosmtplib.SMTP(hostname="127.0.0.1", port=process.smtp_port, use_tls=False, start_tls=False) as smtp:
        for mail in mails:
            await smtp.send_message(mail, recipients=recipients)


async def test_a_mail_is_shown_with_its_texts_and_attachments(
    mail_process: MailProcess, mailbox: httpx.AsyncClient
) -> None:
    await _send(mail_process, _mail(message_id="<invoice-7@fencepost.example>"))
    listed = (await mailbox.get("/api/v1/messages")).json()
    assert (listed["total"], listed["messages_count"], listed["unread"], listed["start"]) == (1, 1, 1, 0)
    [summary] = listed["messages"]
    assert summary["MessageID"] == "invoice-7@fencepost.example"
    assert summary["From"] == {"Name": "Fencepost Billing", "Address": "billing@fencepost.example"}
    assert summary["To"] == [{"Name": "Ann Ă", "Address": "ann@shop.example"}]
    assert (summary["Subject"], summary["Attachments"], summary["Read"]) == ("Hoá đơn 2026-7", 1, False)
    assert summary["Snippet"] == "Cảm ơn bạn. .a line that starts with a dot"

    message = (await mailbox.get(f"/api/v1/message/{summary['ID']}")).json()
    assert message["Text"].splitlines() == ["Cảm ơn bạn.", ".a line that starts with a dot"]
    assert message["HTML"].strip() == "<p>Cảm ơn <b>bạn</b>.</p>"
    assert message["Date"] == "2026-11-29T10:00:00+07:00"
    [attachment] = message["Attachments"]
    assert (attachment["PartID"], attachment["FileName"], attachment["ContentType"], attachment["Size"]) == (
        "2",
        "INV-2026-7.pdf",
        "application/pdf",
        len(PDF),
    )
    assert (await mailbox.get("/api/v1/messages")).json()["unread"] == 0

    part = await mailbox.get(f"/api/v1/message/{summary['ID']}/part/2")
    assert (part.content, part.headers["content-type"]) == (PDF, "application/pdf")
    raw = await mailbox.get(f"/api/v1/message/{summary['ID']}/raw")
    assert b"Message-ID: <invoice-7@fencepost.example>\r\n" in raw.content
    assert len(raw.content) == message["Size"] == summary["Size"]
    assert (await mailbox.get("/api/v1/message/latest")).json()["ID"] == summary["ID"]


@pytest.mark.parametrize(
    ("charset", "text"), [("iso-8859-1", "Zahlung \xfcber 5"), ("utf-8", "Hoá đơn"), ("x-unknown", "Hoá đơn")]
)
@pytest.mark.parametrize("name", ["filename*=utf-8''Ho%C3%A1.pdf", 'filename="=?utf-8?b?SG/DoS5wZGY=?="'])
async def test_texts_and_file_names_are_decoded(
    mail_process: MailProcess, mailbox: httpx.AsyncClient, charset: str, text: str, name: str
) -> None:
    body = text.encode("utf-8" if charset == "x-unknown" else charset)
    source = (
        b"From: a@x.example\r\nTo: b@x.example\r\nContent-Type: multipart/mixed; boundary=cut\r\n\r\n"
        b"--cut\r\nContent-Type: text/plain; charset=" + charset.encode() + b"\r\n\r\n" + body + b"\r\n"
        b"--cut\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; " + name.encode() + b"\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--cut--\r\n"
    )
    await aiosmtplib.send(
        source,
        sender="a@x.example",
        recipients=["b@x.example"],
        hostname="127.0.0.1",
        port=mail_process.smtp_port,
        start_tls=False,
    )
    message = (await mailbox.get("/api/v1/message/latest")).json()
    assert message["Text"].strip() == text
    assert [(file["FileName"], file["Size"]) for file in message["Attachments"]] == [("Hoá.pdf", 4)]


@pytest.mark.parametrize("path", ["nothing", "nothing/raw", "nothing/part/2", "latest"])
async def test_an_unknown_mail_is_404(mailbox: httpx.AsyncClient, path: str) -> None:
    assert (await mailbox.get(f"/api/v1/message/{path}")).status_code == 404


async def test_lists_are_paged_newest_first(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> None:
    await _send(mail_process, *(_mail(f"mail {number}") for number in range(5)))
    page = (await mailbox.get("/api/v1/messages", params={"start": 1, "limit": 2})).json()
    assert [message["Subject"] for message in page["messages"]] == ["mail 3", "mail 2"]
    assert (page["total"], page["count"], page["start"]) == (5, 2, 1)


async def test_search_finds_a_mail_by_its_message_id(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> None:
    await _send(mail_process, _mail(message_id="<inv-7_a@x.example>"), _mail(message_id="<inv-7xa@x.example>"))
    for query in ('message-id:"inv-7_a@x.example"', 'message-id:"<INV-7_A@x.example>"', "message-id:inv-7_a@x.example"):
        found = (await mailbox.get("/api/v1/search", params={"query": query})).json()
        assert [message["MessageID"] for message in found["messages"]] == ["inv-7_a@x.example"]
        assert (found["messages_count"], found["total"]) == (1, 2)
    missing = (await mailbox.get("/api/v1/search", params={"query": 'message-id:"inv-8@x.example"'})).json()
    assert (missing["messages"], missing["messages_count"]) == ([], 0)


async def test_search_filters_must_all_match(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> None:
    await _send(mail_process, _mail("Invoice 1", to="ann@shop.example"), _mail("Invoice 1", to="ben@shop.example"))
    query = 'to:ben@shop.example subject:"invoice 1" from:billing@'
    found = (await mailbox.get("/api/v1/search", params={"query": query})).json()
    assert [message["To"][0]["Address"] for message in found["messages"]] == ["ben@shop.example"]


@pytest.mark.parametrize("query", ["", "invoice", "tag:x", "-to:ann", 'message-id:""'])
async def test_a_query_that_the_double_cannot_answer_is_refused(mailbox: httpx.AsyncClient, query: str) -> None:
    assert (await mailbox.get("/api/v1/search", params={"query": query})).status_code == 400


async def test_mails_are_deleted_by_id_or_all(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> None:
    await _send(mail_process, *(_mail(f"mail {number}") for number in range(3)))
    newest, *others = [message["ID"] for message in (await mailbox.get("/api/v1/messages")).json()["messages"]]
    await mailbox.request("DELETE", "/api/v1/messages", json={"IDs": [newest]})
    left = (await mailbox.get("/api/v1/messages")).json()
    assert [message["ID"] for message in left["messages"]] == others
    await mailbox.delete("/api/v1/messages")
    assert (await mailbox.get("/api/v1/messages")).json()["total"] == 0


async def test_a_recipient_in_no_header_was_a_blind_copy(mail_process: MailProcess, mailbox: httpx.AsyncClient) -> None:
    await _send(mail_process, _mail(), recipients=["ann@shop.example", "audit@shop.example"])
    message = (await mailbox.get("/api/v1/message/latest")).json()
    assert message["Bcc"] == [{"Name": "", "Address": "audit@shop.example"}]


async def test_a_person_finds_every_mail_and_its_attachment(
    mail_process: MailProcess, mailbox: httpx.AsyncClient
) -> None:
    await _send(mail_process, _mail("<script>alert(1)</script>"))
    identifier = (await mailbox.get("/api/v1/message/latest")).json()["ID"]
    inbox = (await mailbox.get("/")).text
    assert f'href="/view/{identifier}"' in inbox
    page = (await mailbox.get(f"/view/{identifier}")).text
    assert f'href="/api/v1/message/{identifier}/part/2"' in page
    assert "<script>" not in inbox + page
    assert (await mailbox.get("/view/nothing")).status_code == 404
