"""Event classes made in a line, for tests that plant one fault each."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from service_platform.event_bus import Event


class Line(BaseModel):
    """A model inside an event."""

    model_config = ConfigDict(frozen=True)

    sku: str
    quantity: int


FIELDS: dict[str, Any] = {
    "order_id": UUID,
    "customer_id": str,
    "locale": Literal["en", "vi"],
    "total_minor": int,
    "lines": list[Line],
    "note": str | None,
}


def order_placed(
    *,
    without: tuple[str, ...] = (),
    defaults: dict[str, Any] | None = None,
    name: str = "order.placed",
    version: int = 1,
    source: str = "order",
    key: str = "order_id",
    config: ConfigDict | None = None,
    **fields: Any,
) -> type[Event]:
    """`order.placed` with `FIELDS`, but for what is said here."""
    annotations = {field: kind for field, kind in {**FIELDS, **fields}.items() if field not in without}
    body: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": "An order was placed.",
        "__annotations__": annotations,
        "event_name": name,
        "version": version,
        "source": source,
        "key_field": key,
        "model_config": config or {},
        **(defaults or {}),
    }
    made = type(Event)("OrderPlaced", (Event,), body)
    assert issubclass(made, Event)
    return made
