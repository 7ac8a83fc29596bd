"""Why a key is refused."""

from __future__ import annotations

from typing import Final

from service_platform.errors import Invalid
from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "idempotency-key-reused": {
            "en": "The idempotency key was used for another request",
            "vi": "Khóa idempotency đã được dùng cho yêu cầu khác",
        },
    }
)


class IdempotencyKeyReused(Invalid, messages=MESSAGES):
    """The same key came with another request; the first answer stands."""

    slug = "idempotency-key-reused"
