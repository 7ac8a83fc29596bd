"""Giving money back, for staff."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from payment_service.domain.payments import (
    PaymentNotFound,
    PaymentNotSettled,
    PaymentQueries,
    RefundExceedsCapture,
    RefundNotFound,
    RefundService,
    RefundView,
    RequestRefund,
)
from service_platform.http import PageWanted, idempotency, problems_of, require
from service_platform.idempotency import IdempotencyClaim
from service_platform.pagination import Page, Position

from .bodies import RefundBody

_READ = require("payments:read_all")


def refunds_router(service: RefundService, payments: PaymentQueries) -> APIRouter:
    """`POST /payments/{id}/refunds` (payments:refund); `GET` of it and of `…/{refund id}` (payments:read_all)."""
    router = APIRouter(prefix="/payments/{payment_id}/refunds", tags=["refunds"])

    @router.post(
        "",
        status_code=201,
        dependencies=[require("payments:refund")],
        responses=problems_of(PaymentNotFound, PaymentNotSettled, RefundExceedsCapture),
    )
    async def request_refund(
        payment_id: UUID,
        body: RefundBody,
        claim: Annotated[
            IdempotencyClaim, idempotency("refund_payment", location="/payments/{payment_id}/refunds/{id}")
        ],
    ) -> RefundView:
        return await service.request(
            RequestRefund(idempotency=claim, payment_id=payment_id, amount_minor=body.amount_minor)
        )

    @router.get("", dependencies=[_READ], responses=problems_of(PaymentNotFound))
    async def list_refunds(payment_id: UUID, page: PageWanted) -> Page[RefundView]:
        rows = await payments.refunds(payment_id, before=page.after, limit=page.rows_to_read)
        return Page[RefundView].of(
            rows, page, item=lambda row: row, position=lambda row: Position(row.created_at, row.id)
        )

    @router.get("/{refund_id}", dependencies=[_READ], responses=problems_of(PaymentNotFound, RefundNotFound))
    async def get_refund(payment_id: UUID, refund_id: UUID) -> RefundView:
        return await payments.refund(payment_id, refund_id)

    return router
