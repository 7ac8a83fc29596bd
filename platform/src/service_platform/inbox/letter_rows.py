"""Dead letters and pending retries as operators see them."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from .dead_letters import DeadLetter, PendingRetry, State

_Event = Annotated[str, Field(description="Empty for a record whose headers name none", examples=["order.placed"])]
_Consumer = Annotated[
    str, Field(description="Who could not handle it; empty for a nameless one", examples=["payment.open-payment"])
]
_Key = Annotated[str, Field(description="Events of one key keep their order", examples=["018f3c1e"])]
_Source = Annotated[str, Field(description="The service that published it", examples=["order"])]
_Time = Annotated[datetime, Field(examples=["2026-03-01T09:30:00Z"])]
_EVENT_ID = "1d7f2c0a-98b1-4a6e-8a32-53a8b1f4b9d2"
_ERROR = "PaymentRefused: payment-refused"


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class DeadLetterRow(_Row):
    """A dead letter in a list."""

    id: Annotated[UUID, Field(examples=["6f1d2e5a-3d8e-4b8b-9d57-0d7a1b6f0c11"])]
    died_at: _Time
    event_name: _Event
    consumer: _Consumer
    key: _Key
    attempts: Annotated[int, Field(description="That failed", examples=[5])]
    error: Annotated[str, Field(description="The last one", examples=[_ERROR])]
    state: Annotated[State, Field(examples=["dead"])]
    source: _Source
    event_id: Annotated[UUID | None, Field(examples=[_EVENT_ID])]
    resolved_at: Annotated[datetime | None, Field(description="When it was requeued or discarded", examples=[None])]
    reason: Annotated[str | None, Field(description="Why it was discarded", examples=[None])]


class DeadLetterRecord(DeadLetterRow):
    """A dead letter with all that is known of it. Its payload is a text, or base64 when it is not even that."""

    origin: Annotated[str, Field(description="The record that it came in", examples=["events.order/2@1041 0"])]
    headers: Annotated[dict[str, str], Field(examples=[{"event-name": "order.placed", "event-id": _EVENT_ID}])]
    history: Annotated[
        list[dict[str, Any]],
        Field(
            description="Each failed attempt",
            examples=[[{"attempt": 1, "at": "2026-03-01T09:29:00Z", "error": _ERROR}]],
        ),
    ]
    payload: Annotated[str | None, Field(examples=['{"order_id":"018f3c1e"}'])]
    payload_base64: Annotated[str | None, Field(examples=[None])]

    @classmethod
    def of(cls, letter: DeadLetter) -> Self:
        row = DeadLetterRow.model_validate(letter).model_dump()
        payload, payload_base64 = _payload(letter.payload)
        return cls(
            **row,
            origin=letter.origin,
            headers=dict(letter.headers),
            history=[dict(attempt) for attempt in letter.history],
            payload=payload,
            payload_base64=payload_base64,
        )


class PendingRetryRow(_Row):
    """An event in the retry ledger. Only the head of a key is tried; the others wait behind it, in their order."""

    position: Annotated[int, Field(description="Its place in the ledger", examples=[17])]
    due_at: _Time
    event_name: _Event
    consumer: _Consumer
    key: _Key
    is_head: Annotated[bool, Field(description="Whether it is the one of its key that is tried", examples=[True])]
    held_at: Annotated[
        datetime | None,
        Field(description="Set on a dead one that holds its key until somebody decides about it", examples=[None]),
    ]
    attempts: Annotated[int, Field(description="That failed", examples=[2])]
    error: Annotated[str | None, Field(description="The last one, null before the first", examples=[_ERROR])]
    source: _Source
    event_id: Annotated[UUID, Field(examples=[_EVENT_ID])]
    created_at: _Time

    @classmethod
    def of(cls, retry: PendingRetry) -> Self:
        last = retry.history[-1]["error"] if retry.history else None
        known = {name: getattr(retry, name) for name in cls.model_fields if name != "error"}
        return cls(**known, error=last)


def _payload(raw: bytes) -> tuple[str | None, str | None]:
    try:
        return raw.decode(), None
    except UnicodeDecodeError:
        return None, base64.b64encode(raw).decode()
