"""What people read about payments."""

from service_platform.messages import Catalogue

MESSAGES = Catalogue(
    {
        "payment-not-found": {
            "en": "There is no such payment",
            "vi": "Không có khoản thanh toán này",
        },
    }
)
