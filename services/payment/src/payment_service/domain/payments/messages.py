"""What people read about payments."""

from service_platform.messages import Catalogue

MESSAGES = Catalogue(
    {
        "payment-not-found": {
            "en": "There is no such payment",
            "vi": "Không có khoản thanh toán này",
        },
        "refund-not-found": {
            "en": "There is no such refund",
            "vi": "Không có khoản hoàn tiền này",
        },
        "payment-not-settled": {
            "en": "Nothing was captured that could be given back",
            "vi": "Chưa thu được khoản tiền nào để hoàn lại",
        },
        "refund-exceeds-capture": {
            "en": "That is more than is left to give back",
            "vi": "Số tiền này lớn hơn số còn có thể hoàn lại",
        },
        "webhook-refused": {
            "en": "The webhook is not signed by the provider, or too old",
            "vi": "Webhook không có chữ ký của nhà cung cấp hoặc đã quá cũ",
        },
    }
)
