"""invoice.issued, as order reads it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class InvoiceIssued(Event):
    """The order's invoice was issued under a number."""

    event_name: ClassVar[Literal["invoice.issued"]] = "invoice.issued"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "billing"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    invoice_id: UUID
    invoice_number: str
    issued_at: datetime
