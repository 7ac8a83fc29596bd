"""What the command says around an action's result."""

from typing import Final

from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "nothing": {
            "en": "None.",
            "vi": "Không có.",
        },
        "done": {
            "en": "Done.",
            "vi": "Đã xong.",
        },
        "next-page": {
            "en": "There are more: add --cursor {cursor}",
            "vi": "Còn nữa: thêm --cursor {cursor}",
        },
        "dry-run": {
            "en": "{count} found, nothing was changed. To do it, run it again with --apply.",
            "vi": "Tìm thấy {count}, chưa thay đổi gì. Để thực hiện, hãy chạy lại với --apply.",
        },
        "applied": {
            "en": "{done} of {count} done.",
            "vi": "Đã thực hiện {done} trên {count}.",
        },
        "more": {
            "en": "Others match too: run it again for the next ones, or raise --limit.",
            "vi": "Còn mục khác phù hợp: hãy chạy lại để xử lý tiếp, hoặc tăng --limit.",
        },
        "not-usable": {
            "en": "Nothing was done. What is wrong:",
            "vi": "Chưa thực hiện gì. Điều cần sửa:",
        },
        "see-help": {
            "en": "{command} --help shows what it takes.",
            "vi": "{command} --help cho biết lệnh nhận những gì.",
        },
        "database-away": {
            "en": "The database at {address} is away ({reason}). Once it is back, `audit list` says what was done.",
            "vi": "Cơ sở dữ liệu tại {address} không trả lời ({reason}). Khi có lại, hãy xem `audit list`.",
        },
        "failed": {
            "en": "It failed and was rolled back: {reason}. `audit list --outcome failed` shows it.",
            "vi": "Thao tác bị lỗi và đã được hoàn tác: {reason}. Xem bằng `audit list --outcome failed`.",
        },
        "no-actor": {
            "en": "The operating system has no name for you: say who you are with --actor.",
            "vi": "Hệ điều hành không có tên của bạn: hãy cho biết bạn là ai bằng --actor.",
        },
    }
)
