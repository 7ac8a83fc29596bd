"""Reading payments, for staff."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from payment_service.domain.payments import PaymentNotFound, PaymentQueries, PaymentView
from service_platform.http import PageWanted, problems_of, require
from service_platform.pagination import Page, Position


def payments_router(payments: PaymentQueries) -> APIRouter:
    """`GET /payments`, `GET /payments/{id}`: scope payments:read_all, since a payment names no customer."""
    router = APIRouter(prefix="/payments", tags=["payments"], dependencies=[require("payments:read_all")])

    @router.get("")
    async def list_payments(page: PageWanted) -> Page[PaymentView]:
        rows = await payments.newest(before=page.after, limit=page.rows_to_read)
        return Page[PaymentView].of(
            rows, page, item=lambda row: row, position=lambda row: Position(row.created_at, row.id)
        )

    @router.get("/{payment_id}", responses=problems_of(PaymentNotFound))
    async def get_payment(payment_id: UUID) -> PaymentView:
        return await payments.get(payment_id)

    return router
