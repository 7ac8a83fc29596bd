"""Every text of this capability that people read."""

from service_platform.messages import Catalogue

MESSAGES = Catalogue(
    {
        "order-not-found": {
            "en": "There is no such order",
            "vi": "Không có đơn hàng này",
        },
        "order-state-conflict": {
            "en": "The order is not in the state for that",
            "vi": "Trạng thái đơn hàng không cho phép thao tác này",
        },
        "order-state-conflict.detail": {
            "en": "The order is {state} and cannot become {wanted}.",
            "vi": "Đơn hàng đang ở trạng thái {state} và không thể chuyển sang {wanted}.",
        },
        "refund-not-possible": {
            "en": "The order cannot have been refunded like that",
            "vi": "Đơn hàng không thể được hoàn tiền như vậy",
        },
        "refund-not-possible.detail": {
            "en": "{amount_minor} {refund_currency}, in minor units, cannot have been returned of an order that is "
            "{state}.",
            "vi": "Không thể hoàn lại {amount_minor} {refund_currency} (đơn vị nhỏ) của đơn hàng đang ở trạng thái "
            "{state}.",
        },
        "unknown-currency": {
            "en": "Nothing can be priced in this currency",
            "vi": "Không thể định giá bằng loại tiền tệ này",
        },
        "unknown-currency.detail": {
            "en": "{currency} is not a currency of ISO 4217 that has a minor unit.",
            "vi": "{currency} không phải là tiền tệ theo ISO 4217 có đơn vị nhỏ.",
        },
        "total-too-large": {
            "en": "The order's total is too large",
            "vi": "Tổng giá trị đơn hàng quá lớn",
        },
        "total-too-large.detail": {
            "en": "The lines add up to {total_minor} minor units; at most {max_total_minor} are accepted.",
            "vi": "Các dòng hàng cộng lại là {total_minor} đơn vị nhỏ; tối đa được chấp nhận là {max_total_minor}.",
        },
    }
)
