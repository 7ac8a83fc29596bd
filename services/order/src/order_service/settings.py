"""What the order service is configured by."""

from __future__ import annotations

from service_platform.settings import ServiceSettings


class OrderSettings(ServiceSettings):
    """The shared settings: orders need no one but their own database, and the broker."""
