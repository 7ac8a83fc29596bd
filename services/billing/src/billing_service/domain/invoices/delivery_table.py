"""What became of an issued document: its PDF and its mail."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, Table, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .tables import DeliveryTables


@dataclass(frozen=True, slots=True, kw_only=True)
class MailIntent:
    """That a document is going to be mailed. `times` counts the runs that recorded it, this one included."""

    message_id: str
    times: int
    mailed: bool


class DeliveryTable:
    """Keeps PDFs and mails of one kind of document. A write belongs into a transaction that claimed its job's fence."""

    def __init__(self, tables: DeliveryTables) -> None:
        self._documents = tables.documents
        self._mails = tables.mails

    async def keep_document(self, document_id: UUID, pdf: bytes, tx: Transaction) -> None:
        """Store the PDF; where there is one already, that one stays."""
        values = {_id(self._documents): document_id, self._documents.c.pdf: pdf}
        await tx.session.execute(insert(self._documents).values(values).on_conflict_do_nothing())

    async def intend_mail(self, document_id: UUID, message_id: str, tx: Transaction) -> MailIntent:
        """Record that the document is about to be mailed under `message_id`, or under the one recorded before."""
        mails = self._mails
        statement = (
            insert(mails)
            .values({_id(mails): document_id, mails.c.message_id: message_id, mails.c.intents: 1})
            .on_conflict_do_update(index_elements=[_id(mails)], set_={"intents": mails.c.intents + 1})
            .returning(mails.c.message_id, mails.c.intents, mails.c.mailed_at)
        )
        row = (await tx.session.execute(statement)).one()
        return MailIntent(message_id=row.message_id, times=row.intents, mailed=row.mailed_at is not None)

    async def mark_mailed(self, document_id: UUID, tx: Transaction) -> None:
        """Record that the mail server has the mail."""
        mailed = update(self._mails).where(_id(self._mails) == document_id)
        await tx.session.execute(mailed.values(mailed_at=func.platform_now()))

    async def find_document(self, document_id: UUID, session: AsyncSession) -> bytes | None:
        """The document's PDF, if it is made."""
        statement = select(self._documents.c.pdf).where(_id(self._documents) == document_id)
        pdf: bytes | None = (await session.execute(statement)).scalar()
        return pdf


def _id(table: Table) -> ColumnElement[UUID]:
    (column,) = table.primary_key
    return column
