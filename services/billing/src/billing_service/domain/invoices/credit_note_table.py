"""Credit notes: written once, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import RowMapping, insert, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .credit import CreditNote, CreditNoteDraft
from .models import Invoice
from .numbering import CREDIT_NOTE_SERIES, drawn_number
from .tables import OF_CREDIT_NOTES, credit_notes, gathered_refunds, invoices
from .tax import TaxTotal

_mails = OF_CREDIT_NOTES.mails

_SHOWN: Final = (
    select(
        credit_notes,
        invoices.c.number.label("invoice_number"),
        invoices.c.issued_at.label("invoice_issued_at"),
        invoices.c.order_id,
        invoices.c.customer_email,
        invoices.c.language,
        invoices.c.currency,
        gathered_refunds.c.refunded_at,
        _mails.c.mailed_at,
    )
    .join_from(credit_notes, invoices)
    .join(gathered_refunds, credit_notes.c.refund_id == gathered_refunds.c.refund_id)
    .outerjoin(_mails, credit_notes.c.id == _mails.c.credit_note_id)
)


class CreditNoteTable:
    """Issues."""

    async def issue(self, draft: CreditNoteDraft, invoice: Invoice, tx: Transaction) -> CreditNote:
        """Number and date the draft, and store it: one statement, followed by others of it and publishing alone.

        It makes every other credit note wait until `tx` ends (see `numbering.py`). A refund has one by constraint; a
        second one violates it.
        """
        values: dict[str, Any] = {
            "id": draft.id,
            "invoice_id": draft.invoice_id,
            "refund_id": draft.refund.refund_id,
            "customer_id": invoice.customer_id,
            "total_minor": draft.refund.amount_minor,
            "taxes": [asdict(total) for total in draft.taxes],
        }
        drawn = drawn_number(CREDIT_NOTE_SERIES)
        row = select(*drawn.c, *(literal(value, credit_notes.c[name].type) for name, value in values.items()))
        statement = insert(credit_notes).from_select([*drawn.c.keys(), *values], row)
        number = (await tx.session.execute(statement.returning(credit_notes.c.number, credit_notes.c.issued_at))).one()
        return CreditNote(
            id=draft.id,
            number=number.number,
            invoice_id=invoice.id,
            invoice_number=invoice.number,
            invoice_issued_at=invoice.issued_at,
            order_id=invoice.order_id,
            refund_id=draft.refund.refund_id,
            customer_id=invoice.customer_id,
            customer_email=invoice.customer_email,
            language=invoice.language,
            currency=invoice.currency,
            total_minor=draft.refund.amount_minor,
            taxes=draft.taxes,
            refunded_at=draft.refund.refunded_at,
            issued_at=number.issued_at,
            mailed_at=None,
        )

    async def credited(self, invoice_id: UUID, tx: Transaction) -> Sequence[TaxTotal]:
        """The tax totals of every credit note of an invoice so far."""
        query = select(credit_notes.c.taxes).where(credit_notes.c.invoice_id == invoice_id)
        return [TaxTotal(**total) for taxes in (await tx.session.execute(query)).scalars() for total in taxes]


async def find_credit_note(note_id: UUID, session: AsyncSession) -> CreditNote | None:
    """The credit note as `session` sees it."""
    row = (await session.execute(_SHOWN.where(credit_notes.c.id == note_id))).mappings().one_or_none()
    return _credit_note(row) if row is not None else None


async def newest_credit_notes(
    *, customer_id: str | None, before: tuple[datetime, UUID] | None, limit: int, session: AsyncSession
) -> list[CreditNote]:
    """Up to `limit` credit notes, newest first, from before the position (issued at, id); of one customer or of all."""
    statement = _SHOWN.order_by(credit_notes.c.issued_at.desc(), credit_notes.c.id.desc()).limit(limit)
    if customer_id is not None:
        statement = statement.where(credit_notes.c.customer_id == customer_id)
    if before is not None:
        statement = statement.where(tuple_(credit_notes.c.issued_at, credit_notes.c.id) < tuple_(*before))
    return [_credit_note(row) for row in (await session.execute(statement)).mappings()]


def _credit_note(row: RowMapping) -> CreditNote:
    values = dict(row)
    for unshown in ("series", "year", "sequence"):
        del values[unshown]
    return CreditNote(**values | {"taxes": [TaxTotal(**total) for total in row["taxes"]]})
