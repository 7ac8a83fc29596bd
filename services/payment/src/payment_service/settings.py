"""What the payment service is configured by."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from pydantic import SecretStr, field_validator

from service_platform.settings import ServiceSettings


class PaymentSettings(ServiceSettings):
    """The shared settings, and where the card provider is.

    `stripe_api_base` is an address without a path: `https://api.stripe.com`, or the provider double's.
    `stripe_webhook_secret` is that of the endpoint `POST /webhooks/card-provider`.
    """

    stripe_api_base: str = "https://api.stripe.com"
    stripe_api_key: SecretStr
    stripe_webhook_secret: SecretStr

    @field_validator("stripe_api_base")
    @classmethod
    def _address_only(cls, address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme not in {"https", "http"} or not parts.netloc or parts.path.strip("/"):
            raise ValueError("give an address without a path, like https://api.stripe.com")
        return address.rstrip("/")

    def unsafe_outside_development(self) -> Iterator[str]:
        yield from super().unsafe_outside_development()
        if self.stripe_api_base.startswith("http://"):
            yield "STRIPE_API_BASE is plain http, so anyone on the way can read the API key"
