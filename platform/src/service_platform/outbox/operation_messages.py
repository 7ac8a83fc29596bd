"""What the operator actions on the outbox say about themselves."""

from typing import Final

from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "outbox": {
            "en": "Messages on their way out of this service",
            "vi": "Các thông điệp đang trên đường ra khỏi dịch vụ này",
        },
        "outbox backlog": {
            "en": "Count what waits to be sent, by destination, and since when",
            "vi": "Đếm những gì đang chờ gửi theo từng đích, và chờ từ bao lâu",
        },
        "outbox backlog.detail": {
            "en": "The age of the oldest one that could go is the figure to watch: it grows while the broker is away "
            "or no relay runs. Deferred ones are not due yet, suspects are tried alone, parked ones wait for you.",
            "vi": "Tuổi của thông điệp cũ nhất có thể gửi là con số cần theo dõi: nó tăng khi broker mất kết nối hoặc "
            "không có relay nào chạy. Deferred là chưa đến giờ, suspect đang được thử riêng, parked thì chờ bạn.",
        },
        "outbox blocked": {
            "en": "List keys that a refused message holds back, longest first",
            "vi": "Liệt kê các khóa bị một thông điệp bị từ chối chặn lại, lâu nhất trước",
        },
        "outbox blocked.detail": {
            "en": "Behind a suspect nothing needs to be done: the relay tries it again, then parks it. Behind a parked "
            "one everything of that key waits until you release or discard it.",
            "vi": "Sau một suspect thì không cần làm gì: relay sẽ thử lại rồi giữ nó lại. Sau một thông điệp parked, "
            "mọi thông điệp cùng khóa phải chờ đến khi bạn giải phóng hoặc loại bỏ nó.",
        },
        "parked": {
            "en": "Messages that the broker refused for good",
            "vi": "Các thông điệp bị broker từ chối hẳn",
        },
        "parked list": {
            "en": "List parked messages, those parked last first",
            "vi": "Liệt kê các thông điệp bị giữ lại, mới nhất trước",
        },
        "parked list.detail": {
            "en": "Each was refused alone, as often as it is tried. The error says why: mostly its size, or the "
            "topic's limit.",
            "vi": "Mỗi thông điệp đã bị từ chối riêng, đủ số lần thử. Lỗi cho biết lý do: thường là kích thước của nó "
            "hoặc giới hạn của topic.",
        },
        "parked release": {
            "en": "Have one parked message sent after all",
            "vi": "Cho gửi lại một thông điệp bị giữ",
        },
        "parked release.detail": {
            "en": "Once its cause is mended, such as the topic's limit raised. Its tries start again; it goes first, "
            "the later ones of its key after it, in order. One that is not parked any more is refused.",
            "vi": "Dùng khi nguyên nhân đã được khắc phục, ví dụ đã tăng giới hạn của topic. Số lần thử bắt đầu lại; "
            "nó đi trước, các thông điệp sau cùng khóa đi tiếp theo thứ tự. Nếu không còn bị giữ thì bị từ chối.",
        },
        "parked discard": {
            "en": "Give one parked message up for good",
            "vi": "Bỏ hẳn một thông điệp bị giữ",
        },
        "parked discard.detail": {
            "en": "No consumer will ever see it, and the later ones of its key flow without it: tell those who needed "
            "it. This cannot be undone.",
            "vi": "Không consumer nào còn thấy nó, các thông điệp sau cùng khóa sẽ đi tiếp: hãy báo cho bên cần nó. "
            "Không thể hoàn tác.",
        },
    }
)
