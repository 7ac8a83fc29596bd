"""What the operator actions of this service say about themselves."""

from __future__ import annotations

from typing import Final

from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "payments": {
            "en": "Payments that no machine can decide",
            "vi": "Các khoản thanh toán mà máy không thể quyết định",
        },
        "payments list": {
            "en": "List the payments that need review, the oldest first",
            "vi": "Liệt kê các khoản thanh toán cần xem xét, cũ nhất trước",
        },
        "payments list.detail": {
            "en": "The reason says what the provider's ledger and this service disagree about. Most end by themselves "
            "once the provider has a final answer; one that was concluded before waits for you.",
            "vi": "Lý do cho biết sổ của nhà cung cấp và dịch vụ này khác nhau ở đâu. Phần lớn tự kết thúc khi nhà "
            "cung cấp có câu trả lời cuối; khoản đã kết luận trước đó thì chờ bạn.",
        },
        "payments resolve": {
            "en": "Decide one payment that needs review, as the provider's ledger allows",
            "vi": "Quyết định một khoản thanh toán cần xem xét, theo sổ của nhà cung cấp",
        },
        "payments resolve.detail": {
            "en": "The provider is asked first. Settled: its intent captured this amount. Declined: nothing was "
            "captured and nothing can be, or all of it went back; the payment of a cancelled order becomes cancelled. "
            "Others hear of it as of any other end, unless they know it. No money moves by this; to move some, act at "
            "the provider first. This cannot be undone.",
            "vi": "Nhà cung cấp được hỏi trước. Settled: intent đã thu đúng số tiền. Declined: không có gì được thu và "
            "không thể thu nữa, hoặc đã hoàn hết; khoản của đơn đã hủy thành cancelled. Các dịch vụ khác được báo như "
            "mọi kết thúc khác, trừ khi đã biết. Thao tác này không chuyển tiền; muốn chuyển hãy làm ở nhà cung cấp "
            "trước. Không thể hoàn tác.",
        },
        "refunds": {
            "en": "Refunds that no machine can decide",
            "vi": "Các khoản hoàn tiền mà máy không thể quyết định",
        },
        "refunds list": {
            "en": "List the refunds that need review, the oldest first",
            "vi": "Liệt kê các khoản hoàn tiền cần xem xét, cũ nhất trước",
        },
        "refunds list.detail": {
            "en": "Until you decide, each counts against what may still be given back. The detail says why it is here.",
            "vi": "Cho đến khi bạn quyết định, mỗi khoản vẫn tính vào số còn có thể hoàn. Chi tiết cho biết vì sao nó "
            "ở đây.",
        },
        "refunds resolve": {
            "en": "Decide one refund that needs review, as the provider's ledger allows",
            "vi": "Quyết định một khoản hoàn tiền cần xem xét, theo sổ của nhà cung cấp",
        },
        "refunds resolve.detail": {
            "en": "The provider is asked first. Done: its ledger shows this refund, or the one that you made there and "
            "name, of the same amount. Failed: it shows none and none can come any more; the amount is free again. "
            "Others hear of what was done, unless they know it. No money moves by this. This cannot be undone.",
            "vi": "Nhà cung cấp được hỏi trước. Done: sổ của họ có khoản hoàn này, hoặc khoản bạn đã tạo ở đó và nêu "
            "tên, cùng số tiền. Failed: sổ không có và không thể có nữa; số tiền lại tự do. Các dịch vụ khác được báo "
            "về khoản đã hoàn, trừ khi đã biết. Thao tác này không chuyển tiền. Không thể hoàn tác.",
        },
    }
)
