"""Refunds that need review, as operator actions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from payment_service.domain.payments import (
    LedgerAway,
    LedgerDisagrees,
    NotUnderReview,
    OthersWereTold,
    RefundLedger,
    RefundMayStillCome,
    RefundNotShown,
    RefundReason,
    RefundShown,
    RefundStatus,
    ResolveRefund,
    ReviewService,
    UnknownRefund,
    refunds_under_review,
)
from service_platform.ops import Action, ActionContext, ActionInput, ListInput, listing
from service_platform.pagination import Page, PageRequest, Position

from .messages import MESSAGES

_REFUND = "7d1b0a52-6c0f-4f0e-8f57-93a1c2d4e5f6"


class RefundRow(BaseModel):
    """A refund as an operator sees it. `amount_minor` counts minor units of `currency` (ISO 4217)."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: Annotated[UUID, Field(examples=[_REFUND])]
    payment_id: Annotated[UUID, Field(examples=["3f0c7d5e-8b1a-4a55-9d0e-2b8f6a1c4e70"])]
    status: Annotated[RefundStatus, Field(examples=["needs_review"])]
    reason: Annotated[RefundReason, Field(description="Who wanted it", examples=["requested"])]
    detail: Annotated[str | None, Field(description="A code", examples=["no_answer_for_a_day"])]
    amount_minor: Annotated[int, Field(examples=[700])]
    currency: Annotated[str, Field(examples=["EUR"])]
    provider_reference: Annotated[str | None, Field(description="The provider's name for it", examples=[None])]
    created_at: Annotated[datetime, Field(examples=["2026-03-01T09:00:00Z"])]
    concluded_at: Annotated[datetime | None, Field(examples=[None])]


class ResolveRefundInput(ActionInput):
    """Which refund, what became of it, and how that is known."""

    id: Annotated[UUID, Field(description="The refund's id", examples=[_REFUND])]
    status: Annotated[Literal["done", "failed"], Field(description="Whether the money went back", examples=["done"])]
    provider_reference: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=255,
            description="The provider's refund that stands for it, where a person made it there",
            examples=["re_3Nk2"],
        ),
    ] = None
    reason: Annotated[
        str, Field(min_length=3, max_length=500, description="Why", examples=["made at the provider, ticket 4712"])
    ]

    @model_validator(mode="after")
    def _reference_of_what_was_done(self) -> Self:
        if self.provider_reference is not None and self.status != "done":
            raise ValueError("a provider_reference goes with status done: what failed has none")
        return self


async def _find(_given: ListInput, page: PageRequest, context: ActionContext) -> Sequence[RefundRow]:
    found = await refunds_under_review(context.session, after=page.after, limit=page.rows_to_read)
    return [RefundRow.model_validate(view) for view in found]


async def _look(given: ResolveRefundInput, reviews: ReviewService) -> RefundLedger:
    return await reviews.look_at_refund(given.id, given.provider_reference)


async def _resolve(given: ResolveRefundInput, context: ActionContext) -> RefundRow:
    reviews: ReviewService = context.outside
    command = ResolveRefund(seen=context.seen, done=given.status == "done")
    return RefundRow.model_validate(await reviews.resolve_refund(command, context.tx))


LIST_REFUNDS: Final = listing(
    name="refunds list",
    messages=MESSAGES,
    input=ListInput,
    result=Page[RefundRow],
    find=_find,
    position=lambda row: Position(row.created_at, row.id),
    columns=("id", "created_at", "payment_id", "amount_minor", "currency", "reason", "provider_reference", "detail"),
)
RESOLVE_REFUND: Final = Action(
    name="refunds resolve",
    messages=MESSAGES,
    input=ResolveRefundInput,
    result=RefundRow,
    changes=True,
    look=_look,
    run=_resolve,
    refusals=(
        UnknownRefund,
        NotUnderReview,
        OthersWereTold,
        RefundNotShown,
        RefundShown,
        RefundMayStillCome,
        LedgerDisagrees,
        LedgerAway,
    ),
    of="id",
    example={
        "status": "done",
        "detail": None,
        "provider_reference": "re_3Nk2",
        "concluded_at": "2026-03-01T09:30:00Z",
    },
)
