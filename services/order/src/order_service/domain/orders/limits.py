"""How large anything about an order may be. The API and the tables hold the same bounds."""

from typing import Final

MAX_LINES: Final = 100
MAX_QUANTITY: Final = 10_000
MAX_UNIT_PRICE_MINOR: Final = 10**9
MAX_TAX_RATE_BP: Final = 10_000
"""In basis points: 10 000 is 100 %."""
MAX_TOTAL_MINOR: Final = 10**11

MAX_SKU_LENGTH: Final = 64
SKU_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._/-]*$"
MAX_EMAIL_LENGTH: Final = 254
"""RFC 5321, 4.5.3.1.3, without the angle brackets."""
MAX_PAYMENT_METHOD_LENGTH: Final = 255
PAYMENT_METHOD_PATTERN: Final = r"^[\x21-\x7e]+$"
