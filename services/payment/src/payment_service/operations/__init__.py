"""What operators can do in this service beside the platform's actions: decide what no machine could."""

from typing import Final

from payment_service.ticks import JOB_TICKS
from service_platform.operations import operator_actions
from service_platform.ops import ActionRegistry

from .payments import LIST_PAYMENTS, RESOLVE_PAYMENT
from .refunds import LIST_REFUNDS, RESOLVE_REFUND

ACTIONS: Final[ActionRegistry] = operator_actions(JOB_TICKS).with_own(
    LIST_PAYMENTS, RESOLVE_PAYMENT, LIST_REFUNDS, RESOLVE_REFUND
)
"""All of them. What they look at, the runner's `outside`, is the service's `ReviewService`."""

__all__ = ["ACTIONS"]
