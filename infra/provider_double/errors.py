"""Refusals, as the real API words and shapes them.

ProviderError                    anything answered with `{"error": {...}}`
├── InvalidRequestError          400; execution had begun, so the answer is stored under the idempotency key
│   └── ParameterError           400; refused by validation: nothing ran, nothing is stored
├── ResourceMissingError         404; nothing ran, nothing is stored
├── CardDeclinedError            402; carries the intent
├── UnauthenticatedError         401
├── IdempotencyMismatchError     400 idempotency_error: the key was used for something else
└── IdempotencyKeyInUseError     409 idempotency_error: the first call with this key has not ended
"""

from typing import Any, ClassVar


class ProviderError(Exception):
    """An answer that is an error object. `stored`: whether a repeat with the same idempotency key replays it."""

    status = 400
    type = "invalid_request_error"
    stored = False
    headers: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        decline_code: str | None = None,
        payment_intent: dict[str, Any] | None = None,
        charge: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        fields = {
            "type": self.type,
            "code": code,
            "decline_code": decline_code,
            "message": message,
            "param": param,
            "charge": charge,
            "payment_intent": payment_intent,
        }
        self.body: dict[str, Any] = {"error": {name: value for name, value in fields.items() if value is not None}}


class InvalidRequestError(ProviderError):
    stored = True


class ParameterError(InvalidRequestError):
    stored = False


class ResourceMissingError(ProviderError):
    status = 404


class CardDeclinedError(ProviderError):
    status = 402
    type = "card_error"
    stored = True


class UnauthenticatedError(ProviderError):
    status = 401


class IdempotencyMismatchError(ProviderError):
    type = "idempotency_error"


class IdempotencyKeyInUseError(ProviderError):
    status = 409
    type = "idempotency_error"
    headers: ClassVar[dict[str, str]] = {"Stripe-Should-Retry": "true"}
