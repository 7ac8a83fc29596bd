"""What this service does when others tell something."""

from .record_placed_order import RecordPlacedOrderOnOrderPlaced
from .record_refund import RecordRefundOnPaymentRefunded
from .record_settled_payment import RecordSettledPaymentOnPaymentSettled

__all__ = ["RecordPlacedOrderOnOrderPlaced", "RecordRefundOnPaymentRefunded", "RecordSettledPaymentOnPaymentSettled"]
