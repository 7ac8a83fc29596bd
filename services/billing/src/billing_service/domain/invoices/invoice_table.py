"""Invoices: written once, never changed."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import RowMapping, insert, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .models import Invoice, InvoiceDraft, InvoiceLine
from .numbering import INVOICE_SERIES, drawn_number
from .tables import OF_INVOICES, invoices
from .tax import TaxTotal

_SHOWN: Final = select(invoices, OF_INVOICES.mails.c.mailed_at).outerjoin(OF_INVOICES.mails)


class InvoiceTable:
    """Issues."""

    async def issue(self, draft: InvoiceDraft, tx: Transaction) -> Invoice:
        """Number and date the draft, and store it: one statement, followed by its credit notes and publishing alone.

        It makes every other issue wait until `tx` ends (see `numbering.py`). An order and a payment have one invoice
        by constraint; a second one violates it.
        """
        values: dict[str, Any] = {
            "id": draft.id,
            "order_id": draft.order_id,
            "payment_id": draft.settled.payment_id,
            "customer_id": draft.placed.customer_id,
            "customer_email": draft.placed.customer_email,
            "language": draft.placed.language,
            "currency": draft.placed.currency,
            "total_minor": draft.total_minor,
            "lines": [asdict(line) for line in draft.placed.lines],
            "taxes": [asdict(total) for total in draft.taxes],
            "settled_at": draft.settled.settled_at,
        }
        drawn = drawn_number(INVOICE_SERIES)
        row = select(*drawn.c, *(literal(value, invoices.c[name].type) for name, value in values.items()))
        statement = insert(invoices).from_select([*drawn.c.keys(), *values], row).returning(invoices)
        return _invoice((await tx.session.execute(statement)).mappings().one(), mailed_at=None)


async def find(invoice_id: UUID, session: AsyncSession) -> Invoice | None:
    """The invoice as `session` sees it."""
    row = (await session.execute(_SHOWN.where(invoices.c.id == invoice_id))).mappings().one_or_none()
    return _invoice(row, mailed_at=row["mailed_at"]) if row is not None else None


async def find_of_order(order_id: UUID, session: AsyncSession) -> Invoice | None:
    """The order's invoice as `session` sees it."""
    row = (await session.execute(_SHOWN.where(invoices.c.order_id == order_id))).mappings().one_or_none()
    return _invoice(row, mailed_at=row["mailed_at"]) if row is not None else None


async def newest(
    *, customer_id: str | None, before: tuple[datetime, UUID] | None, limit: int, session: AsyncSession
) -> list[Invoice]:
    """Up to `limit` invoices, newest first, from before the position (issued at, id); of one customer or of all."""
    statement = _SHOWN.order_by(invoices.c.issued_at.desc(), invoices.c.id.desc()).limit(limit)
    if customer_id is not None:
        statement = statement.where(invoices.c.customer_id == customer_id)
    if before is not None:
        statement = statement.where(tuple_(invoices.c.issued_at, invoices.c.id) < tuple_(*before))
    return [_invoice(row, mailed_at=row["mailed_at"]) for row in (await session.execute(statement)).mappings()]


def _invoice(row: RowMapping, *, mailed_at: datetime | None) -> Invoice:
    return Invoice(
        id=row["id"],
        number=row["number"],
        order_id=row["order_id"],
        payment_id=row["payment_id"],
        customer_id=row["customer_id"],
        customer_email=row["customer_email"],
        language=row["language"],
        currency=row["currency"],
        total_minor=row["total_minor"],
        lines=[InvoiceLine(**line) for line in row["lines"]],
        taxes=[TaxTotal(**total) for total in row["taxes"]],
        settled_at=row["settled_at"],
        issued_at=row["issued_at"],
        mailed_at=mailed_at,
    )
