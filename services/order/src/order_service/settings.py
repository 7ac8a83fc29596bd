"""What the order service is configured by."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service_platform.settings import ServiceSettings


class OrderSettings(ServiceSettings):
    """The shared settings, and how long an order may stay unpaid before it is cancelled.

    A day by default: longer than an outage of the card provider that somebody would wait for.
    """

    payment_window_seconds: Annotated[int, Field(ge=1, le=31_536_000)] = 86_400
