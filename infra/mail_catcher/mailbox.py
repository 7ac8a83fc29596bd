"""The kept mails: one SQLite file, used by the event loop's thread only.

WAL keeps what was committed through `kill -9`, and a mail is committed before its sender hears 250.
"""

import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mail_catcher.message import Mail

_SCHEMA = """
create table if not exists mails (
    seq integer primary key autoincrement,
    id text not null unique,
    message_id text not null,
    created text not null,
    sender text not null,
    recipients text not null,
    subject text not null,
    addresses text not null,
    size integer not null,
    attachments integer not null,
    snippet text not null,
    read integer not null default 0
);
create table if not exists sources (
    seq integer primary key references mails (seq) on delete cascade,
    raw blob not null
);
"""

_SUMMARY = "id, message_id, created, subject, addresses, size, attachments, snippet, read"

# A filter: a column of `mails` and a text that it must contain, whatever the case.
Filter = tuple[str, str]


class Mailbox:
    """Newest mails first, as Mailpit lists them."""

    def __init__(self, state_dir: Path) -> None:
        state_dir.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(state_dir / "mail.sqlite3", isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        for pragma in ("journal_mode = wal", "synchronous = normal", "foreign_keys = on"):
            self._connection.execute(f"pragma {pragma}")
        self._connection.executescript(_SCHEMA)

    def keep(self, raw: bytes, recipients: list[str]) -> str:
        """Commit a mail and return its ID."""
        mail = Mail(raw, recipients)
        addresses = mail.addresses()
        identifier = secrets.token_hex(11)
        with self._transaction():
            seq = self._connection.execute(
                "insert into mails"
                " (id, message_id, created, sender, recipients, subject, addresses, size, attachments, snippet)"
                " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    identifier,
                    mail.message_id,
                    _timestamp(datetime.now(UTC)),
                    json.dumps(addresses["From"], ensure_ascii=False),
                    json.dumps(addresses["To"], ensure_ascii=False),
                    mail.subject,
                    json.dumps(addresses, ensure_ascii=False),
                    len(raw),
                    len(mail.attachments),
                    mail.snippet,
                ),
            ).lastrowid
            self._connection.execute("insert into sources (seq, raw) values (?, ?)", (seq, raw))
        return identifier

    def summaries(self, start: int, limit: int, filters: list[Filter]) -> list[dict[str, Any]]:
        where, values = _conditions(filters)
        rows = self._connection.execute(
            f"select {_SUMMARY} from mails where {where} order by seq desc limit ? offset ?", (*values, limit, start)
        )
        return [_summary(row) for row in rows]

    def count(self, filters: list[Filter], *, unread: bool = False) -> int:
        where, values = _conditions(filters)
        if unread:
            where += " and read = 0"
        return int(self._connection.execute(f"select count(*) from mails where {where}", values).fetchone()[0])

    def latest_id(self) -> str | None:
        row = self._connection.execute("select id from mails order by seq desc limit 1").fetchone()
        return None if row is None else str(row["id"])

    def raw(self, identifier: str) -> bytes | None:
        row = self._connection.execute(
            "select raw from sources join mails using (seq) where mails.id = ?", (identifier,)
        ).fetchone()
        return None if row is None else bytes(row["raw"])

    def mail(self, identifier: str) -> Mail | None:
        """The mail, parsed again from its source."""
        row = self._connection.execute(
            "select raw, addresses from sources join mails using (seq) where mails.id = ?", (identifier,)
        ).fetchone()
        if row is None:
            return None
        return Mail(row["raw"], [address["Address"] for address in json.loads(row["addresses"])["Bcc"]])

    def view(self, identifier: str) -> dict[str, Any] | None:
        """The whole mail without the content of its attachments. It counts as read from now on."""
        mail = self.mail(identifier)
        if mail is None:
            return None
        self._connection.execute("update mails set read = 1 where id = ?", (identifier,))
        row = self._connection.execute("select created, size from mails where id = ?", (identifier,)).fetchone()
        addresses = mail.addresses()
        sent_at = mail.sent_at()
        return {
            "ID": identifier,
            "MessageID": mail.message_id,
            **addresses,
            "ReturnPath": addresses["From"]["Address"],
            "Subject": mail.subject,
            "ListUnsubscribe": {"Header": "", "Links": [], "Errors": "", "HeaderPost": ""},
            "Date": row["created"] if sent_at is None else _timestamp(sent_at),
            "Tags": [],
            "Username": "",
            "Text": mail.text,
            "HTML": mail.html,
            "Size": row["size"],
            "Inline": [part.summary() for part in mail.files if part.inline],
            "Attachments": [part.summary() for part in mail.attachments],
        }

    def delete(self, identifiers: list[str]) -> None:
        """Delete these mails; an empty list means all, as it does in Mailpit."""
        with self._transaction():
            if identifiers:
                self._connection.executemany(
                    "delete from mails where id = ?", [(identifier,) for identifier in identifiers]
                )
            else:
                self._connection.execute("delete from mails")

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._connection.execute("rollback")
            raise
        self._connection.execute("commit")


def _conditions(filters: list[Filter]) -> tuple[str, list[str]]:
    where = " and ".join(["true", *(f"{column} like ? escape '\\'" for column, _ in filters)])
    return where, [f"%{_literal(text)}%" for _, text in filters]


def _literal(text: str) -> str:
    return text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")


def _summary(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "ID": row["id"],
        "MessageID": row["message_id"],
        "Read": bool(row["read"]),
        **json.loads(row["addresses"]),
        "Subject": row["subject"],
        "Created": row["created"],
        "Username": "",
        "Tags": [],
        "Size": row["size"],
        "Attachments": row["attachments"],
        "Snippet": row["snippet"],
    }


def _timestamp(at: datetime) -> str:
    """RFC 3339, in UTC where the header names no zone."""
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).isoformat()
