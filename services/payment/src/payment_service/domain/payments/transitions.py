"""What everybody who has news about a payment or a refund goes through: one compare-and-set that also tells.

The capture job, the consumer of a cancel, the refund job, a webhook's check and the reconcile alike. Each method is
called inside the caller's transaction, changes nothing where another one was first, and returns what it changed.
"""

from __future__ import annotations

from uuid import UUID

from payment_service.events import PaymentCancelled, PaymentDeclined, PaymentRefunded, PaymentSettled
from service_platform.database import Transaction
from service_platform.event_bus import EventBus
from service_platform.telemetry import get_logger

from .job_kinds import enqueue_refund_payment
from .log_events import PaymentsLogEvent
from .models import Outcome, Payment, PaymentStatus
from .payment_table import PaymentTable
from .refund_models import Refund, RefundReason, RefundStatus
from .refund_table import RefundTable

_log = get_logger()


class Transitions:
    """The changes of payments and refunds that other services hear of."""

    def __init__(self, payments: PaymentTable, refunds: RefundTable, event_bus: EventBus) -> None:
        self._payments = payments
        self._refunds = refunds
        self._event_bus = event_bus

    async def conclude(
        self, payment_id: UUID, outcome: Outcome, *, intent_id: str | None, tx: Transaction, from_review: bool = False
    ) -> Payment | None:
        """The payment's final state, by a final answer for its stored intent (see `PaymentTable.conclude`).

        A payment that settles although a cancel was recorded owes its refund from here on.
        """
        payment = await self._payments.conclude(
            payment_id, outcome, intent_id=intent_id, tx=tx, from_review=from_review
        )
        if payment is not None:
            await self.tell(payment, tx)
            if payment.status is PaymentStatus.SETTLED and payment.cancel_requested_at is not None:
                await self._give_back(payment, tx)
        return payment

    async def resolve(self, seen: Payment, *, settled: bool, reason: str, tx: Transaction) -> Payment | None:
        """What a person decided about a payment that needs review (see `PaymentTable.resolve`).

        Others are told what they have not been told: all, where it was never concluded; else the answer to a cancel
        that was recorded while it needed review.
        """
        payment = await self._payments.resolve(seen, settled=settled, reason=reason, tx=tx)
        if payment is None:
            return None
        if seen.concluded_as is None:
            await self.tell(payment, tx)
            unanswered = payment.cancel_requested_at is not None
        else:
            assert seen.under_review_since is not None  # a CHECK
            cancelled_at = payment.cancel_requested_at
            unanswered = cancelled_at is not None and cancelled_at >= seen.under_review_since
        if unanswered and payment.status is PaymentStatus.SETTLED:
            await self._give_back(payment, tx)
        elif unanswered and seen.concluded_as is not None:
            await self._tell_cancelled(payment, tx)
        return payment

    async def cancel(self, order_id: UUID, tx: Transaction) -> Payment | None:
        """Record the order's cancel, and answer it where the answer is known: the payment as it is then.

        While it is `confirming`, nobody knows: `conclude` answers. None where the cancel had been recorded before.
        """
        payment = await self._payments.cancel(order_id, tx)
        if payment is not None:
            if payment.status in {PaymentStatus.CANCELLED, PaymentStatus.DECLINED}:
                await self._tell_cancelled(payment, tx)
            elif payment.status is PaymentStatus.SETTLED:
                await self._give_back(payment, tx)
        return payment

    async def refund_done(self, refund_id: UUID, reference: str, tx: Transaction) -> Refund | None:
        """The provider gave the money back, under that name."""
        refund = await self._refunds.done(refund_id, reference, tx)
        if refund is not None:
            await self._tell_refunded(refund, tx)
        return refund

    async def resolve_refund(
        self, seen: Refund, *, reference: str | None, detail: str | None, told: bool, tx: Transaction
    ) -> Refund | None:
        """What a person decided about a refund that needs review: done under `reference`, or failed with `detail`.

        `told`: others know of it, or need not, so nothing is published.
        """
        status = RefundStatus.DONE if detail is None else RefundStatus.FAILED
        refund = await self._refunds.resolve(seen, status=status, reference=reference, detail=detail, tx=tx)
        if refund is not None and status is RefundStatus.DONE and not told:
            await self._tell_refunded(refund, tx)
        return refund

    async def _tell_refunded(self, refund: Refund, tx: Transaction) -> None:
        payment = await self._payments.find(refund.payment_id, tx.session)
        assert payment is not None  # a foreign key says so
        assert refund.concluded_at is not None  # CHECKs
        assert refund.provider_reference is not None
        refunded = PaymentRefunded.create(
            order_id=payment.order_id,
            payment_id=payment.id,
            refund_id=refund.id,
            amount_minor=refund.amount_minor,
            currency=payment.currency,
            reason=refund.reason.value,
            refunded_at=refund.concluded_at,
            provider_reference=refund.provider_reference,
        )
        await self._event_bus.publish(refunded, tx)

    async def refund_failed(self, refund: Refund, detail: str, tx: Transaction) -> Refund | None:
        """The provider will not give it back. What nobody will ask for again, a person has to look at."""
        payment = await self._payments.lock(refund.payment_id, tx)
        if payment is not None and payment.cancel_requested_at is not None:
            return await self._refunds.put_under_review(refund.id, detail, tx)
        return await self._refunds.fail(refund.id, detail, tx)

    async def tell(self, payment: Payment, tx: Transaction) -> None:
        """Publish the payment's final state; nothing while it has none."""
        if payment.status is PaymentStatus.CANCELLED:
            await self._tell_cancelled(payment, tx)
        elif payment.status is PaymentStatus.SETTLED and payment.concluded_at is not None:
            settled = PaymentSettled.create(
                order_id=payment.order_id,
                payment_id=payment.id,
                amount_minor=payment.amount_minor,
                currency=payment.currency,
                settled_at=payment.concluded_at,
                provider_reference=payment.intent_id,
            )
            await self._event_bus.publish(settled, tx)
        elif payment.status is PaymentStatus.DECLINED and payment.concluded_at is not None:
            declined = PaymentDeclined.create(
                order_id=payment.order_id,
                payment_id=payment.id,
                reason=payment.reason,
                declined_at=payment.concluded_at,
            )
            await self._event_bus.publish(declined, tx)

    async def _tell_cancelled(self, payment: Payment, tx: Transaction) -> None:
        cancelled = PaymentCancelled.create(
            order_id=payment.order_id, payment_id=payment.id, cancelled_at=payment.cancel_requested_at
        )
        await self._event_bus.publish(cancelled, tx)

    async def _give_back(self, payment: Payment, tx: Transaction) -> None:
        """All that is left of a settled payment. Where nothing is, and no refund is under way, that is the answer."""
        if payment.refundable_minor > 0:
            refund = await self._refunds.reserve(payment.id, payment.refundable_minor, RefundReason.ORDER_CANCELLED, tx)
            await enqueue_refund_payment(refund.id, tx)
        elif payment.refund_reserved_minor == 0:
            await self._tell_cancelled(payment, tx)


def note(payment: Payment) -> None:
    """Log what a payment has become, after the commit."""
    about = {"payment_id": str(payment.id), "order_id": str(payment.order_id)}
    match payment.status:
        case PaymentStatus.SETTLED:
            _log.info(PaymentsLogEvent.SETTLED, **about)
        case PaymentStatus.DECLINED:
            _log.info(PaymentsLogEvent.DECLINED, **about, reason=payment.reason)
        case PaymentStatus.CANCELLED:
            _log.info(PaymentsLogEvent.CANCELLED, **about)
        case PaymentStatus.NEEDS_REVIEW:
            _log.error(PaymentsLogEvent.NEEDS_REVIEW, **about, reason=payment.reason)


def note_refund(refund: Refund) -> None:
    """Log what a refund has become, after the commit."""
    about = {"refund_id": str(refund.id), "payment_id": str(refund.payment_id), "amount_minor": refund.amount_minor}
    match refund.status:
        case RefundStatus.RESERVED:
            _log.info(PaymentsLogEvent.REFUND_RESERVED, **about, reason=refund.reason.value)
        case RefundStatus.DONE:
            _log.info(PaymentsLogEvent.REFUND_DONE, **about)
        case RefundStatus.FAILED:
            _log.warning(PaymentsLogEvent.REFUND_FAILED, **about, detail=refund.detail)
        case RefundStatus.NEEDS_REVIEW:
            _log.error(PaymentsLogEvent.REFUND_NEEDS_REVIEW, **about, detail=refund.detail)
