"""What operators read about dead letters."""

from typing import Final

from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "dead-letter-not-found": {
            "en": "There is no such dead letter",
            "vi": "Không có dead letter này",
        },
        "dead-letter-not-found.detail": {
            "en": "List the dead letters of the service whose consumer failed, and take an id from there.",
            "vi": "Hãy liệt kê các dead letter của dịch vụ có consumer bị lỗi rồi lấy id từ đó.",
        },
        "dead-letter-resolved": {
            "en": "The dead letter has been dealt with before",
            "vi": "Dead letter này đã được xử lý trước đó",
        },
        "dead-letter-resolved.detail": {
            "en": "It was {state}. List the dead letters to see what still waits.",
            "vi": "Trạng thái của nó là {state}. Hãy liệt kê các dead letter để xem những gì còn chờ.",
        },
        "dead-letter-nameless": {
            "en": "Nobody can be asked to handle this record",
            "vi": "Không có consumer nào xử lý được bản ghi này",
        },
        "dead-letter-nameless.detail": {
            "en": "Its headers name no event. Read its bytes, then discard it with a reason.",
            "vi": "Header của nó không nêu tên sự kiện nào. Hãy đọc dữ liệu thô rồi loại bỏ kèm lý do.",
        },
    }
)
