"""Pages for a person: the latest mails, and one mail with its attachments."""

from html import escape
from typing import Any

# How many mails the inbox page has room for.
SHOWN = 100

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .6rem }
tr + tr td { border-top: 1px solid #ddd } pre { white-space: pre-wrap; background: #f6f6f6; padding: 1rem }
iframe { width: 100%; height: 24rem; border: 1px solid #ddd } .quiet { color: #777 }
"""


def inbox(messages: list[dict[str, Any]], total: int) -> str:
    rows = "".join(
        f"<tr><td class=quiet>{escape(message['Created'][:19].replace('T', ' '))}</td>"
        f"<td>{escape(_names(message['To'] + message['Bcc']))}</td>"
        f'<td><a href="/view/{escape(message["ID"])}">{escape(message["Subject"] or "(no subject)")}</a></td>'
        f"<td class=quiet>{message['Attachments'] or ''}</td></tr>"
        for message in messages
    )
    body = (
        f"<h1>{total} mails</h1>"
        f"<p class=quiet>Newest first, up to {SHOWN}; times in UTC. Nothing here was delivered.</p>"
        f"<table><tr><th>Received<th>To<th>Subject<th>Files</tr>{rows}</table>"
    )
    return _page("Mail catcher", body)


def mail(message: dict[str, Any]) -> str:
    identifier = escape(message["ID"])
    headers = "".join(
        f"<tr><th>{name}</th><td>{escape(value)}</td></tr>"
        for name, value in (
            ("From", _names([message["From"]])),
            ("To", _names(message["To"] + message["Cc"] + message["Bcc"])),
            ("Date", message["Date"]),
            ("Message-ID", message["MessageID"]),
        )
    )
    files = "".join(
        f'<li><a href="/api/v1/message/{identifier}/part/{escape(part["PartID"])}">'
        f"{escape(part['FileName'] or part['PartID'])}</a>"
        f" <span class=quiet>{escape(part['ContentType'])}, {part['Size']} bytes</span></li>"
        for part in message["Attachments"] + message["Inline"]
    )
    # Without permissions, so a mail can run no script and open no window.
    html = f'<iframe sandbox srcdoc="{escape(message["HTML"])}"></iframe>' if message["HTML"] else ""
    body = (
        f"<p><a href=/>All mails</a></p><h1>{escape(message['Subject'] or '(no subject)')}</h1>"
        f"<table>{headers}</table><ul>{files}</ul><pre>{escape(message['Text'])}</pre>{html}"
        f'<p><a href="/api/v1/message/{identifier}/raw">Source</a></p>'
    )
    return _page(message["Subject"] or "Mail", body)


def _page(title: str, body: str) -> str:
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>"
        f"<style>{_STYLE}</style>{body}</html>"
    )


def _names(addresses: list[dict[str, str]]) -> str:
    return ", ".join(
        f"{address['Name']} <{address['Address']}>" if address["Name"] else address["Address"] for address in addresses
    )
