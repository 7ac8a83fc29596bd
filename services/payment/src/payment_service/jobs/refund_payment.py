"""Makes a refund at the provider, under the one key that its row has."""

from __future__ import annotations

from typing import ClassVar

from payment_service.domain.payments import REFUND_PAYMENT, RefundPaymentPayload, RefundService, SendRefund
from service_platform.jobs import FencedProcessor, JobRun, Step


class SendRefundStep(Step[RefundPaymentPayload]):
    """Stores the key, sends the refund, records the answer."""

    name: ClassVar[str] = "send-refund"

    def __init__(self, refunds: RefundService) -> None:
        self._refunds = refunds

    async def run(self, run: JobRun[RefundPaymentPayload]) -> None:
        await self._refunds.send(
            SendRefund(fence=run.fence(self.name), run_key=run.key(self.name), refund_id=run.payload.refund_id)
        )


class RefundPayment(FencedProcessor[RefundPaymentPayload]):
    """One refund."""

    kind = REFUND_PAYMENT

    def __init__(self, refunds: RefundService) -> None:
        super().__init__([SendRefundStep(refunds)])
