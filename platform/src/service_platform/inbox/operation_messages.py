"""What the operator actions on dead letters and retries say about themselves."""

from typing import Final

from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "dead-letters": {
            "en": "Events that a consumer gave up",
            "vi": "Các sự kiện mà consumer đã bỏ cuộc",
        },
        "dead-letters list": {
            "en": "List dead letters, the oldest first",
            "vi": "Liệt kê dead letter, cũ nhất trước",
        },
        "dead-letters list.detail": {
            "en": "Start here when a consumer's events do not take effect. What waits for a decision is listed; with "
            "another state, what was requeued or discarded.",
            "vi": "Bắt đầu từ đây khi sự kiện của một consumer không có hiệu lực. Liệt kê những gì đang chờ quyết "
            "định; với trạng thái khác thì là những gì đã được đưa lại hàng đợi hoặc đã bị loại bỏ.",
        },
        "dead-letters show": {
            "en": "Show one dead letter with its payload and every failed attempt",
            "vi": "Xem một dead letter cùng nội dung và mọi lần thử thất bại",
        },
        "dead-letters show.detail": {
            "en": "The payload may hold personal data: who looked at it stands in the audit.",
            "vi": "Nội dung có thể chứa dữ liệu cá nhân: ai đã xem được ghi lại trong nhật ký kiểm toán.",
        },
        "dead-letters requeue": {
            "en": "Have one dead letter's event tried again",
            "vi": "Cho thử lại sự kiện của một dead letter",
        },
        "dead-letters requeue.detail": {
            "en": "Once its cause is mended. It gets all its attempts again, behind what waits in its key; one that "
            "held its key goes first. An event that took effect before is not run again, and one that was requeued or "
            "discarded is refused.",
            "vi": "Dùng khi nguyên nhân đã được khắc phục. Sự kiện có lại toàn bộ số lần thử, đứng sau những gì đang "
            "chờ cùng khóa; sự kiện đang giữ khóa thì đi trước. Sự kiện đã có hiệu lực sẽ không chạy lại; sự kiện đã "
            "được đưa lại hàng đợi hoặc đã bị loại bỏ thì bị từ chối.",
        },
        "dead-letters requeue-all": {
            "en": "Requeue every dead letter that the filters fit, the oldest first",
            "vi": "Đưa lại hàng đợi mọi dead letter khớp bộ lọc, cũ nhất trước",
        },
        "dead-letters requeue-all.detail": {
            "en": "Without apply it only shows them. Each is a transaction and an audit row of its own, so it can be "
            "stopped, run again, and run by two operators at once. Records whose headers name no event are left out.",
            "vi": "Không có apply thì chỉ hiển thị. Mỗi dead letter là một giao dịch và một dòng kiểm toán riêng, nên "
            "có thể dừng, chạy lại, và hai người vận hành chạy cùng lúc. Bỏ qua bản ghi không nêu tên sự kiện.",
        },
        "dead-letters discard": {
            "en": "Give one dead letter's event up for good",
            "vi": "Bỏ hẳn sự kiện của một dead letter",
        },
        "dead-letters discard.detail": {
            "en": "When the event must not or need not take effect any more. The row stays as evidence, with the "
            "reason; a key that it held goes on. This cannot be undone.",
            "vi": "Dùng khi sự kiện không được phép hoặc không cần có hiệu lực nữa. Dòng dữ liệu được giữ làm bằng "
            "chứng cùng lý do; khóa mà nó giữ được chạy tiếp. Không thể hoàn tác.",
        },
        "retries": {
            "en": "Events that will be tried again, and those behind them",
            "vi": "Các sự kiện sẽ được thử lại và những sự kiện chờ phía sau",
        },
        "retries list": {
            "en": "List pending retries in the order of the ledger",
            "vi": "Liệt kê các lần thử lại đang chờ theo thứ tự sổ cái",
        },
        "retries list.detail": {
            "en": "Why something has not happened yet: the head of a key is tried at its time, the rest waits behind "
            "it. Nothing needs to be done, unless a head is held by its dead letter: requeue or discard that.",
            "vi": "Vì sao một việc chưa xảy ra: sự kiện đầu của khóa được thử đúng giờ, phần còn lại chờ phía sau. "
            "Không cần làm gì, trừ khi sự kiện đầu bị dead letter của nó giữ: hãy đưa lại hàng đợi hoặc loại bỏ nó.",
        },
    }
)
