"""Every text of this capability that people read: problems, the document, the mail."""

from service_platform.messages import Catalogue

MESSAGES = Catalogue(
    {
        "invoice-not-found": {
            "en": "There is no such invoice",
            "vi": "Không có hóa đơn này",
        },
        "credit-note-not-found": {
            "en": "There is no such credit note",
            "vi": "Không có giấy ghi có này",
        },
        "document-not-ready": {
            "en": "The document is not ready yet",
            "vi": "Bản in của chứng từ này chưa sẵn sàng",
        },
        "document-not-ready.detail": {
            "en": "{number} is issued and its PDF is being made. Try again in a moment.",
            "vi": "Chứng từ {number} đã được phát hành và tệp PDF đang được tạo. Vui lòng thử lại sau giây lát.",
        },
        "paid-amount-differs": {
            "en": "What was paid is not what the order costs",
            "vi": "Số tiền đã thanh toán không khớp với giá trị đơn hàng",
        },
        "paid-amount-differs.detail": {
            "en": "{paid_minor} {paid_currency} were paid for lines of {total_minor} {currency}, in minor units.",
            "vi": "Đã thanh toán {paid_minor} {paid_currency} cho các dòng hàng trị giá {total_minor} {currency}, "
            "tính theo đơn vị nhỏ.",
        },
        "order-not-complete": {
            "en": "The order cannot be invoiced before it is placed and paid",
            "vi": "Không thể xuất hóa đơn trước khi đơn hàng được đặt và thanh toán",
        },
        "refund-exceeds-invoice": {
            "en": "What was refunded is more than is left of the invoice",
            "vi": "Số tiền hoàn lại vượt quá phần còn lại của hóa đơn",
        },
        "refund-exceeds-invoice.detail": {
            "en": "{amount_minor} {refund_currency} were refunded of the {left_minor} {currency} that are left, "
            "in minor units.",
            "vi": "Đã hoàn {amount_minor} {refund_currency} trong khi chỉ còn {left_minor} {currency}, "
            "tính theo đơn vị nhỏ.",
        },
        "money": {
            "en": "{currency}{nbsp}{amount}",
            "vi": "{amount}{nbsp}{currency}",
        },
        "pdf.title": {"en": "Invoice", "vi": "Hóa đơn"},
        "pdf.number": {"en": "Number", "vi": "Số"},
        "pdf.issued": {"en": "Date of issue", "vi": "Ngày phát hành"},
        "pdf.settled": {"en": "Paid on", "vi": "Ngày thanh toán"},
        "pdf.order": {"en": "Order", "vi": "Đơn hàng"},
        "pdf.customer": {"en": "Customer", "vi": "Khách hàng"},
        "pdf.line.sku": {"en": "Item", "vi": "Mặt hàng"},
        "pdf.line.quantity": {"en": "Quantity", "vi": "Số lượng"},
        "pdf.line.unit_price": {"en": "Unit price", "vi": "Đơn giá"},
        "pdf.line.tax_rate": {"en": "Tax rate", "vi": "Thuế suất"},
        "pdf.line.amount": {"en": "Amount", "vi": "Thành tiền"},
        "pdf.tax.rate": {"en": "Tax {rate}", "vi": "Thuế {rate}"},
        "pdf.tax.net": {"en": "Net", "vi": "Chưa thuế"},
        "pdf.tax.tax": {"en": "Tax", "vi": "Tiền thuế"},
        "pdf.tax.gross": {"en": "Gross", "vi": "Đã gồm thuế"},
        "pdf.total": {"en": "Total", "vi": "Tổng cộng"},
        "pdf.paid": {
            "en": "Paid in full. Nothing is due.",
            "vi": "Đã thanh toán đủ. Quý khách không cần thanh toán thêm.",
        },
        "pdf.free": {
            "en": "This order is free of charge. Nothing is due.",
            "vi": "Đơn hàng này được miễn phí. Quý khách không cần thanh toán.",
        },
        "pdf.note": {
            "en": "All amounts in {currency}. Prices include tax; the tax is rounded half up on each line.",
            "vi": "Mọi số tiền tính bằng {currency}. Giá đã gồm thuế; tiền thuế được làm tròn trên từng dòng hàng.",
        },
        "pdf.invoice": {"en": "For invoice", "vi": "Cho hóa đơn"},
        "pdf.refunded": {"en": "Refunded on", "vi": "Ngày hoàn tiền"},
        "pdf.credit_note.title": {"en": "Credit note", "vi": "Giấy ghi có"},
        "pdf.credit_note.of": {"en": "{number} of {date}", "vi": "{number}, ngày {date}"},
        "pdf.credit_note.total": {"en": "Refunded", "vi": "Số tiền hoàn"},
        "pdf.credit_note.refunded": {
            "en": "This amount was returned to the means of payment that the order was paid with.",
            "vi": "Số tiền này đã được hoàn về phương thức đã dùng để thanh toán đơn hàng.",
        },
        "pdf.credit_note.note": {
            "en": "All amounts in {currency}, in proportion to what was left of each tax rate of the invoice.",
            "vi": "Mọi số tiền tính bằng {currency}, chia theo tỷ lệ phần còn lại của từng thuế suất trên hóa đơn.",
        },
        "pdf.page": {"en": "Page {page} of {pages}", "vi": "Trang {page} / {pages}"},
        "mail.subject": {
            "en": "Your invoice {number}",
            "vi": "Hóa đơn {number} của quý khách",
        },
        "mail.text": {
            "en": "Hello,\n\n"
            "thank you for your order. Your invoice {number} of {date} is attached.\n\n"
            "Order: {order_id}\n"
            "Total: {total}\n\n"
            "Kind regards\n"
            "{seller}\n",
            "vi": "Xin chào quý khách,\n\n"
            "cảm ơn quý khách đã đặt hàng. Hóa đơn {number} phát hành {date} được đính kèm thư này.\n\n"
            "Đơn hàng: {order_id}\n"
            "Tổng cộng: {total}\n\n"
            "Trân trọng\n"
            "{seller}\n",
        },
        "mail.credit_note.subject": {
            "en": "Your credit note {number}",
            "vi": "Giấy ghi có {number} của quý khách",
        },
        "mail.credit_note.text": {
            "en": "Hello,\n\n"
            "we have refunded {total} of your order. Your credit note {number} of {date} is attached.\n\n"
            "Order: {order_id}\n"
            "Invoice: {invoice_number}\n\n"
            "Kind regards\n"
            "{seller}\n",
            "vi": "Xin chào quý khách,\n\n"
            "chúng tôi đã hoàn lại {total} cho đơn hàng của quý khách. Giấy ghi có {number} phát hành {date} được đính "
            "kèm thư này.\n\n"
            "Đơn hàng: {order_id}\n"
            "Hóa đơn: {invoice_number}\n\n"
            "Trân trọng\n"
            "{seller}\n",
        },
    }
)
