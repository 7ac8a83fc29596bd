"""What the operator actions on jobs say about themselves."""

from typing import Final

from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "jobs": {
            "en": "Work that this service does outside a request",
            "vi": "Các công việc mà dịch vụ này làm ngoài yêu cầu",
        },
        "jobs backlog": {
            "en": "Count the jobs that are not finished, by kind, and how long the oldest has waited",
            "vi": "Đếm các công việc chưa kết thúc theo từng loại, và công việc cũ nhất đã chờ bao lâu",
        },
        "jobs backlog.detail": {
            "en": "The age of the oldest one that could run is the figure to watch: it grows while no worker takes "
            "jobs. Failed ones come again by themselves; dead ones and those that need review wait for you.",
            "vi": "Tuổi của công việc cũ nhất có thể chạy là con số cần theo dõi: nó tăng khi không có worker nào nhận "
            "việc. Công việc failed tự chạy lại; công việc dead và needs_review thì chờ bạn.",
        },
        "jobs list": {
            "en": "List the jobs in one state, the oldest first",
            "vi": "Liệt kê các công việc ở một trạng thái, cũ nhất trước",
        },
        "jobs list.detail": {
            "en": "Start with the dead ones, then those that need review: nothing claims them until you have decided. "
            "By a part of the key one finds the job of an order, a payment or an invoice.",
            "vi": "Bắt đầu với công việc dead rồi needs_review: không gì nhận chúng cho đến khi bạn quyết định. Tìm "
            "theo một phần của khóa để thấy công việc của một đơn hàng, khoản thanh toán hay hóa đơn.",
        },
        "jobs show": {
            "en": "Show one job with its payload and its last error",
            "vi": "Xem một công việc cùng nội dung và lỗi cuối cùng",
        },
        "jobs show.detail": {
            "en": "Its runs have the job's id, the step and the token in the idempotency keys that a provider was "
            "shown: with them one finds there what a run did.",
            "vi": "Mỗi lần chạy mang id công việc, bước và token trong khóa idempotency gửi cho nhà cung cấp: nhờ đó "
            "có thể tìm ở bên họ những gì một lần chạy đã làm.",
        },
        "jobs retry": {
            "en": "Have one job run again at once, with all its claims",
            "vi": "Cho chạy lại ngay một công việc, với đủ số lần nhận",
        },
        "jobs retry.detail": {
            "en": "Once its cause is mended. It goes on at the step where it stands; what it did before is not "
            "repeated. For failed and dead jobs and those that need review; any other is refused.",
            "vi": "Dùng khi nguyên nhân đã được khắc phục. Nó tiếp tục từ bước đang đứng; những gì đã làm không lặp "
            "lại. Dành cho công việc failed, dead và needs_review; các công việc khác bị từ chối.",
        },
        "jobs retry-all": {
            "en": "Retry every job that the filters fit, the oldest first",
            "vi": "Thử lại mọi công việc khớp bộ lọc, cũ nhất trước",
        },
        "jobs retry-all.detail": {
            "en": "Without apply it only shows them. Each is a transaction and an audit row of its own, so it can be "
            "stopped, run again, and run by two operators at once.",
            "vi": "Không có apply thì chỉ hiển thị. Mỗi công việc là một giao dịch và một dòng kiểm toán riêng, nên có "
            "thể dừng, chạy lại, và hai người vận hành chạy cùng lúc.",
        },
        "jobs cancel": {
            "en": "Cancel one job that is not finished",
            "vi": "Hủy một công việc chưa kết thúc",
        },
        "jobs cancel.detail": {
            "en": "One that waits is cancelled at once. A running one is asked to end: it hears of it at its next "
            "renewal, ends before its next step, and is done if it gets to its end before. This undoes nothing that "
            "the job did, and cannot be undone.",
            "vi": "Công việc đang chờ bị hủy ngay. Công việc đang chạy được yêu cầu dừng: nó biết ở lần gia hạn tới, "
            "dừng trước bước kế tiếp, và vẫn là done nếu kịp xong trước đó. Thao tác này không đảo ngược những gì công "
            "việc đã làm, và không thể hoàn tác.",
        },
        "jobs resolve": {
            "en": "End one job that no machine can end, with a reason",
            "vi": "Kết luận một công việc mà máy không thể kết thúc, kèm lý do",
        },
        "jobs resolve.detail": {
            "en": "When you have settled by hand what it was for: done, or given up. Only the job changes; what it is "
            "about, such as a payment, has its own state and its own actions. For dead jobs and those that need "
            "review. This cannot be undone.",
            "vi": "Dùng khi bạn đã tự giải quyết việc của nó: done hoặc bỏ. Chỉ công việc thay đổi; đối tượng của nó, "
            "ví dụ khoản thanh toán, có trạng thái và thao tác riêng. Dành cho công việc dead và needs_review. Không "
            "thể hoàn tác.",
        },
    }
)
