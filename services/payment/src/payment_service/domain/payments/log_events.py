"""What this capability logs."""

from service_platform.telemetry import LogEvent


class PaymentsLogEvent(LogEvent):
    SETTLED = "payments.payment.settled"
    DECLINED = "payments.payment.declined"
    CANCELLED = "payments.payment.cancelled"
    NEEDS_REVIEW = "payments.payment.needs_review"
    CANCEL_RECORDED = "payments.payment.cancel_recorded"
    REFUND_RESERVED = "payments.refund.reserved"
    REFUND_DONE = "payments.refund.done"
    REFUND_FAILED = "payments.refund.failed"
    REFUND_KEY_DROPPED = "payments.refund.key_dropped"
    REFUND_NEEDS_REVIEW = "payments.refund.needs_review"
    HINT_TAKEN = "payments.hint.taken"
    ORPHAN_CANCELLED = "payments.orphan.cancelled"
    ORPHAN_WITHOUT_PAYMENT = "payments.orphan.without_payment"
    RECONCILED = "payments.reconcile.compared"
