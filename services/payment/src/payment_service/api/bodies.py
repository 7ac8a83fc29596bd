"""What callers may send, bounded in every direction."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from payment_service.domain.payments import MAX_AMOUNT_MINOR


class RefundBody(BaseModel):
    """How much to give back, in minor units of the payment's currency; all that is left where it is not said.

    Unknown members are refused, and numbers are JSON integers: 1.0 and "1" are neither.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    amount_minor: Annotated[int | None, Field(ge=1, le=MAX_AMOUNT_MINOR, examples=[1250])] = None
