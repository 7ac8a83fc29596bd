"""Titles and details of the problems that the platform itself reports."""

from service_platform.messages import Catalogue

MESSAGES = Catalogue(
    {
        "malformed-request": {
            "en": "The request cannot be read",
            "vi": "Không đọc được yêu cầu",
        },
        "token-missing": {
            "en": "Sign in first",
            "vi": "Vui lòng đăng nhập trước",
        },
        "token-missing.detail": {
            "en": "Send a bearer token in the Authorization header.",
            "vi": "Hãy gửi bearer token trong header Authorization.",
        },
        "token-invalid": {
            "en": "The token is not valid",
            "vi": "Token không hợp lệ",
        },
        "scope-missing": {
            "en": "You may not do this",
            "vi": "Bạn không có quyền thực hiện thao tác này",
        },
        "scope-missing.detail": {
            "en": "It needs the scope {scope}.",
            "vi": "Thao tác này cần quyền {scope}.",
        },
        "keys-unavailable": {
            "en": "Tokens cannot be checked at the moment",
            "vi": "Hiện không thể kiểm tra token",
        },
        "not-found": {
            "en": "There is nothing at this address",
            "vi": "Không có gì tại địa chỉ này",
        },
        "method-not-allowed": {
            "en": "This address does not know that method",
            "vi": "Địa chỉ này không hỗ trợ phương thức đó",
        },
        "request-too-slow": {
            "en": "The request did not arrive in time",
            "vi": "Yêu cầu không đến kịp thời gian",
        },
        "content-too-large": {
            "en": "The request is too large",
            "vi": "Yêu cầu quá lớn",
        },
        "content-too-large.detail": {
            "en": "At most {limit_bytes} bytes are accepted.",
            "vi": "Chỉ chấp nhận tối đa {limit_bytes} byte.",
        },
        "unsupported-media-type": {
            "en": "Send JSON",
            "vi": "Hãy gửi JSON",
        },
        "unsupported-media-type.detail": {
            "en": "The body must be of the type application/json.",
            "vi": "Nội dung phải có kiểu application/json.",
        },
        "nul-character": {
            "en": "Text must not contain the NUL character",
            "vi": "Văn bản không được chứa ký tự NUL",
        },
        "validation-failed": {
            "en": "The request is not valid",
            "vi": "Yêu cầu không hợp lệ",
        },
        "idempotency-key-missing": {
            "en": "An idempotency key is needed",
            "vi": "Cần có khóa idempotency",
        },
        "idempotency-key-missing.detail": {
            "en": "Send a header Idempotency-Key with a value that is new for each thing you create.",
            "vi": "Hãy gửi header Idempotency-Key với giá trị mới cho mỗi lần tạo.",
        },
        "idempotency-key-malformed": {
            "en": "The idempotency key is not usable",
            "vi": "Khóa idempotency không dùng được",
        },
        "idempotency-key-malformed.detail": {
            "en": "It must have 1 to {longest} visible ASCII characters and no spaces.",
            "vi": "Khóa phải có từ 1 đến {longest} ký tự ASCII hiển thị và không có dấu cách.",
        },
        "too-many-requests": {
            "en": "Too many requests",
            "vi": "Quá nhiều yêu cầu",
        },
        "too-many-requests.detail": {
            "en": "Try again in {retry_after_seconds} s.",
            "vi": "Hãy thử lại sau {retry_after_seconds} giây.",
        },
        "request-refused": {
            "en": "The request was refused",
            "vi": "Yêu cầu bị từ chối",
        },
        "unexpected-error": {
            "en": "Something went wrong on our side",
            "vi": "Đã xảy ra lỗi ở phía chúng tôi",
        },
        "unexpected-error.detail": {
            "en": "It has been recorded under the correlation id of this answer.",
            "vi": "Lỗi đã được ghi lại theo correlation id của phản hồi này.",
        },
    }
)
