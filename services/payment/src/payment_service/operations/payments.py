"""Payments that need review, as operator actions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from payment_service.domain.payments import (
    CaptureNotShown,
    IntentStillOpen,
    LedgerAway,
    LedgerDisagrees,
    MoneyStillHeld,
    NotUnderReview,
    OthersWereTold,
    PaymentLedger,
    PaymentNotFound,
    PaymentStatus,
    ResolvePayment,
    ReviewService,
    payments_under_review,
)
from service_platform.ops import Action, ActionContext, ActionInput, ListInput, listing
from service_platform.pagination import Page, PageRequest, Position

from .messages import MESSAGES

_PAYMENT = "3f0c7d5e-8b1a-4a55-9d0e-2b8f6a1c4e70"
_REASON = "the bank confirms the capture, ticket 4711"


class PaymentRow(BaseModel):
    """A payment as an operator sees it. Amounts count minor units of `currency` (ISO 4217)."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: Annotated[UUID, Field(examples=[_PAYMENT])]
    order_id: Annotated[UUID, Field(examples=["018f3c1e-5c3b-7d11-8a52-0f6b6f1b2c3d"])]
    status: Annotated[PaymentStatus, Field(examples=["needs_review"])]
    reason: Annotated[str | None, Field(description="A code", examples=["captured_amount_differs"])]
    amount_minor: Annotated[int, Field(examples=[1999])]
    currency: Annotated[str, Field(examples=["EUR"])]
    provider_reference: Annotated[str | None, Field(description="Its intent", examples=["pi_3Nk2"])]
    refunded_minor: Annotated[int, Field(examples=[0])]
    refund_reserved_minor: Annotated[int, Field(examples=[0])]
    created_at: Annotated[datetime, Field(examples=["2026-03-01T09:00:00Z"])]
    concluded_at: Annotated[datetime | None, Field(description="When it was concluded first", examples=[None])]


class ResolvePaymentInput(ActionInput):
    """Which payment, what it is, and how that is known."""

    id: Annotated[UUID, Field(description="The payment's id", examples=[_PAYMENT])]
    status: Annotated[
        Literal["settled", "declined"],
        Field(description="Whether its money is ours. Declined is cancelled where the order is", examples=["settled"]),
    ]
    reason: Annotated[str, Field(min_length=3, max_length=500, description="Why", examples=[_REASON])]


async def _find(_given: ListInput, page: PageRequest, context: ActionContext) -> Sequence[PaymentRow]:
    found = await payments_under_review(context.session, after=page.after, limit=page.rows_to_read)
    return [PaymentRow.model_validate(view) for view in found]


async def _look(given: ResolvePaymentInput, reviews: ReviewService) -> PaymentLedger:
    return await reviews.look_at_payment(given.id)


async def _resolve(given: ResolvePaymentInput, context: ActionContext) -> PaymentRow:
    reviews: ReviewService = context.outside
    command = ResolvePayment(seen=context.seen, settled=given.status == "settled")
    return PaymentRow.model_validate(await reviews.resolve_payment(command, context.tx))


LIST_PAYMENTS: Final = listing(
    name="payments list",
    messages=MESSAGES,
    input=ListInput,
    result=Page[PaymentRow],
    find=_find,
    position=lambda row: Position(row.created_at, row.id),
    columns=("id", "created_at", "order_id", "amount_minor", "currency", "provider_reference", "reason"),
)
RESOLVE_PAYMENT: Final = Action(
    name="payments resolve",
    messages=MESSAGES,
    input=ResolvePaymentInput,
    result=PaymentRow,
    changes=True,
    look=_look,
    run=_resolve,
    refusals=(
        PaymentNotFound,
        NotUnderReview,
        OthersWereTold,
        CaptureNotShown,
        MoneyStillHeld,
        IntentStillOpen,
        LedgerDisagrees,
        LedgerAway,
    ),
    of="id",
    example={"status": "settled", "reason": None, "concluded_at": "2026-03-01T09:30:00Z"},
)
