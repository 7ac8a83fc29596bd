"""What a person reads who decides about what needs review."""

from __future__ import annotations

from typing import Final

from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "unknown-refund": {
            "en": "There is no refund of this id",
            "vi": "Không có khoản hoàn tiền nào có id này",
        },
        "unknown-refund.detail": {
            "en": "List the refunds that need review, or those of the payment.",
            "vi": "Hãy liệt kê các khoản hoàn tiền cần xem xét, hoặc của khoản thanh toán.",
        },
        "ledger-away": {
            "en": "The card provider does not answer",
            "vi": "Nhà cung cấp thẻ không trả lời",
        },
        "ledger-away.detail": {
            "en": "Nothing was decided, since its ledger could not be read. Call again later.",
            "vi": "Chưa quyết định gì vì không đọc được sổ của họ. Hãy gọi lại sau.",
        },
        "not-under-review": {
            "en": "There is nothing to decide here",
            "vi": "Không có gì cần quyết định ở đây",
        },
        "not-under-review.detail": {
            "en": "It is {state} by now. If that is needs_review, it has changed while the provider was asked: look "
            "at it and call again.",
            "vi": "Hiện nó ở trạng thái {state}. Nếu là needs_review thì nó vừa thay đổi trong lúc hỏi nhà cung cấp: "
            "hãy xem lại rồi gọi lại.",
        },
        "ledger-disagrees": {
            "en": "The provider does not know what this is about",
            "vi": "Nhà cung cấp không biết đối tượng này",
        },
        "ledger-disagrees.detail": {
            "en": "It answers {code} for {reference}. Check the account and the key in the settings, and the reference "
            "that you gave; if all are right, ask the provider.",
            "vi": "Họ trả lời {code} cho {reference}. Hãy kiểm tra tài khoản và khóa trong cài đặt, và tham chiếu đã "
            "nhập; nếu đều đúng, hãy hỏi nhà cung cấp.",
        },
        "others-were-told": {
            "en": "Other services were told something else, and nothing can take that back",
            "vi": "Các dịch vụ khác đã được báo kết quả khác và không thể rút lại",
        },
        "others-were-told.detail": {
            "en": "They know it as {told}. Bring the provider's ledger to that (give back what should not have been "
            "captured, or make the refund anew there), then resolve it as that.",
            "vi": "Họ đã biết nó là {told}. Hãy đưa sổ của nhà cung cấp về đúng như vậy (hoàn lại khoản không được "
            "thu, hoặc tạo lại khoản hoàn ở đó), rồi kết luận như thế.",
        },
        "capture-not-shown": {
            "en": "The provider's ledger shows no capture of this amount",
            "vi": "Sổ của nhà cung cấp không có khoản thu đúng số tiền này",
        },
        "capture-not-shown.detail": {
            "en": "It shows intent {intent} as {intent_status} with {captured_minor} captured; the payment is of "
            "{amount_minor}. Give back what was captured, or cancel the intent, and resolve the payment as declined; "
            "if it is still in progress, wait.",
            "vi": "Sổ cho thấy intent {intent} ở trạng thái {intent_status}, đã thu {captured_minor}; khoản thanh toán "
            "là {amount_minor}. Hãy hoàn lại khoản đã thu hoặc hủy intent rồi kết luận là declined; nếu còn đang xử lý "
            "thì chờ.",
        },
        "money-still-held": {
            "en": "Money was captured and has not all gone back",
            "vi": "Tiền đã được thu và chưa hoàn hết",
        },
        "money-still-held.detail": {
            "en": "Intent {intent} captured {captured_minor}, of which {given_back_minor} went back. Refund the rest "
            "at the provider, then call again; or resolve the payment as settled, if its amount was captured.",
            "vi": "Intent {intent} đã thu {captured_minor}, trong đó {given_back_minor} đã hoàn. Hãy hoàn phần còn lại "
            "ở nhà cung cấp rồi gọi lại; hoặc kết luận là settled nếu đã thu đúng số tiền.",
        },
        "intent-still-open": {
            "en": "The intent could still capture",
            "vi": "Intent vẫn có thể thu tiền",
        },
        "intent-still-open.detail": {
            "en": "Intent {intent} is {intent_status}. Cancel it at the provider, then call again.",
            "vi": "Intent {intent} đang ở trạng thái {intent_status}. Hãy hủy nó ở nhà cung cấp rồi gọi lại.",
        },
        "refund-not-shown": {
            "en": "The provider's ledger shows no such refund",
            "vi": "Sổ của nhà cung cấp không có khoản hoàn này",
        },
        "refund-not-shown.detail": {
            "en": "It shows {shown}; needed is one of {amount_minor} for this payment that succeeded and that no other "
            "refund here is. Make it at the provider and name it with provider_reference, or resolve this one as "
            "failed.",
            "vi": "Sổ cho thấy {shown}; cần một khoản {amount_minor} của thanh toán này đã thành công và chưa thuộc về "
            "khoản hoàn nào khác. Hãy tạo nó ở nhà cung cấp và nêu bằng provider_reference, hoặc kết luận là failed.",
        },
        "refund-shown": {
            "en": "The provider's ledger shows this refund",
            "vi": "Sổ của nhà cung cấp có khoản hoàn này",
        },
        "refund-shown.detail": {
            "en": "It is {reference}, which is {refund_status} there. Resolve it as done once it has succeeded.",
            "vi": "Đó là {reference}, đang ở trạng thái {refund_status}. Hãy kết luận là done khi nó đã thành công.",
        },
        "refund-may-still-come": {
            "en": "A call that was sent may still make this refund",
            "vi": "Một lệnh gọi đã gửi vẫn có thể tạo khoản hoàn này",
        },
        "refund-may-still-come.detail": {
            "en": "Until {until} the provider remembers its key. Call again after that.",
            "vi": "Nhà cung cấp còn nhớ khóa của nó đến {until}. Hãy gọi lại sau thời điểm đó.",
        },
    }
)
