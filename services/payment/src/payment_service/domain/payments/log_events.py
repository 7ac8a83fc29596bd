"""What this capability logs."""

from service_platform.telemetry import LogEvent


class PaymentsLogEvent(LogEvent):
    SETTLED = "payments.payment.settled"
    DECLINED = "payments.payment.declined"
    NEEDS_REVIEW = "payments.payment.needs_review"
