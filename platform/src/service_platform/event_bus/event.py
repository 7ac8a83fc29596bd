"""The base of every event class."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_SOURCE = re.compile(r"[a-z][a-z0-9-]*")


class Event(BaseModel):
    """Something that happened, in the past tense, told to other services. One class a file.

    A publisher's class has every field; a consumer has a class of its own of the same name with the fields that it
    reads, and what else stands in the payload is ignored. A subclass declares:

        class OrderPlaced(Event):
            event_name: ClassVar[Literal["order.placed"]] = "order.placed"
            version: ClassVar[int] = 1          # counts additive changes; a breaking one is a new name
            source: ClassVar[str] = "order"     # the service that publishes it
            key_field: ClassVar[str] = "order_id"
            order_id: UUID

    Events with equal keys reach a consumer in the order in which their transactions committed.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, ser_json_inf_nan="constants")

    event_name: ClassVar[str]
    version: ClassVar[int]
    source: ClassVar[str]
    key_field: ClassVar[str]
    attempts: ClassVar[int] = 5

    @classmethod
    def create(cls, **fields: Any) -> Self:
        """Make one. Raises pydantic's `ValidationError`, and TypeError for a field that the class does not have."""
        if unknown := fields.keys() - cls.model_fields.keys():
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
        return cls(**fields)

    @classmethod
    def parse(cls, payload: bytes) -> Self:
        """Read one from JSON. Raises pydantic's `ValidationError`."""
        return cls.model_validate_json(payload)

    @property
    def key(self) -> str:
        """What orders this event: the text of its key field."""
        return str(getattr(self, self.key_field))

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for name, holds in (
            ("event_name", lambda value: isinstance(value, str) and _NAME.fullmatch(value)),
            ("version", lambda value: isinstance(value, int) and value >= 1),
            ("source", lambda value: isinstance(value, str) and _SOURCE.fullmatch(value)),
            ("key_field", lambda value: value in cls.model_fields),
            ("attempts", lambda value: isinstance(value, int) and 1 <= value <= 1000),
        ):
            value = getattr(cls, name, None)
            if not holds(value):
                raise TypeError(
                    f"{cls.__name__}.{name} is {value!r}: declare it as a ClassVar, as the docstring of "
                    "service_platform.event_bus.Event shows"
                )
        if cls.model_fields[cls.key_field].annotation not in (str, UUID):
            raise TypeError(f"{cls.__name__}.{cls.key_field} orders its events, so it must be a str or a UUID")
