"""What became of an issued invoice: its document and its mail."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .tables import invoice_documents, invoice_mails


@dataclass(frozen=True, slots=True, kw_only=True)
class MailIntent:
    """That an invoice is going to be mailed. `times` counts the runs that recorded it, this one included."""

    message_id: str
    times: int
    mailed: bool


class DeliveryTable:
    """Keeps documents and mails. Each call belongs into a transaction that claimed its job's fence."""

    async def keep_document(self, invoice_id: UUID, pdf: bytes, tx: Transaction) -> None:
        """Store the document; where there is one already, that one stays."""
        statement = insert(invoice_documents).values(invoice_id=invoice_id, pdf=pdf).on_conflict_do_nothing()
        await tx.session.execute(statement)

    async def intend_mail(self, invoice_id: UUID, message_id: str, tx: Transaction) -> MailIntent:
        """Record that the invoice is about to be mailed under `message_id`, or under the one recorded before."""
        again = {"intents": invoice_mails.c.intents + 1}
        statement = (
            insert(invoice_mails)
            .values(invoice_id=invoice_id, message_id=message_id, intents=1)
            .on_conflict_do_update(index_elements=[invoice_mails.c.invoice_id], set_=again)
            .returning(invoice_mails)
        )
        row = (await tx.session.execute(statement)).one()
        return MailIntent(message_id=row.message_id, times=row.intents, mailed=row.mailed_at is not None)

    async def mark_mailed(self, invoice_id: UUID, tx: Transaction) -> None:
        """Record that the mail server has the mail."""
        mailed = update(invoice_mails).where(invoice_mails.c.invoice_id == invoice_id)
        await tx.session.execute(mailed.values(mailed_at=func.platform_now()))


async def find_document(invoice_id: UUID, session: AsyncSession) -> bytes | None:
    """The invoice's PDF, if it is made."""
    statement = select(invoice_documents.c.pdf).where(invoice_documents.c.invoice_id == invoice_id)
    return (await session.execute(statement)).scalar()
