"""credit_note.issued, as order reads it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class CreditNoteIssued(Event):
    """A credit note was issued for one refund of the order."""

    event_name: ClassVar[Literal["credit_note.issued"]] = "credit_note.issued"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "billing"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    credit_note_id: UUID
    credit_note_number: str
    refund_id: UUID
    issued_at: datetime
