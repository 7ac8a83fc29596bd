"""The use cases of refunds. Here a call itself moves money, so the key that it carries is what makes it happen once."""

from __future__ import annotations

from service_platform.database import Claim, Database
from service_platform.telemetry import get_logger

from .commands import RequestRefund, SendRefund
from .errors import AnswerPending, PaymentNotFound, PaymentNotSettled, RefundExceedsCapture
from .job_kinds import enqueue_refund_payment
from .log_events import PaymentsLogEvent
from .models import Payment, PaymentStatus
from .payment_table import PaymentTable
from .provider import CardProvider, FailureKept, NeedsReview, ProviderError, RefundRequest
from .refund_models import ProviderRefund, ProviderRefundStatus, Refund, RefundReason, RefundStatus
from .refund_table import RefundTable
from .transitions import Transitions, note_refund
from .views import RefundView

_log = get_logger()


class RefundService:
    """Reserves refunds, never more than was captured, and has the provider make each exactly once.

    What a crash or a stale worker leaves at each boundary of a refund, and why it is right, stands in the service's
    README.
    """

    def __init__(
        self,
        database: Database,
        payments: PaymentTable,
        refunds: RefundTable,
        provider: CardProvider,
        transitions: Transitions,
    ) -> None:
        self._database = database
        self._payments = payments
        self._refunds = refunds
        self._provider = provider
        self._transitions = transitions

    async def request(self, command: RequestRefund) -> RefundView:
        """Reserve a refund and let a job make it. The payment's row is locked, so two at once see each other.

        Raises `PaymentNotFound`, `PaymentNotSettled`, `RefundExceedsCapture`, and what the idempotency claim raises for
        a key that was used.
        """
        async with self._database.transaction(claim=command.idempotency) as tx:
            payment = await self._payments.lock(command.payment_id, tx)
            if payment is None:
                raise PaymentNotFound(command.payment_id)
            if payment.status is not PaymentStatus.SETTLED:
                raise PaymentNotSettled(payment_id=str(payment.id), payment_status=payment.status.value)
            left = payment.refundable_minor
            amount = left if command.amount_minor is None else command.amount_minor
            if not 0 < amount <= left:
                raise RefundExceedsCapture(payment_id=str(payment.id), refundable_minor=left)
            refund = await self._refunds.reserve(payment.id, amount, RefundReason.REQUESTED, tx)
            await enqueue_refund_payment(refund.id, tx)
            view = RefundView.of(refund, payment.currency)
            await command.idempotency.answer(view, tx)
        note_refund(refund)
        return view

    async def send(self, command: SendRefund) -> None:
        """Have the provider make the refund, under the one key that its row has.

        The key is committed before the first call, and every later run sends that same key and body: the provider
        gives its first answer again. A new key is taken only after the provider was seen to keep an error for the old
        one, and its list shows no such refund. Without any answer for a day the refund needs review.
        Raises `AnswerPending` or `ProviderUnavailable` while nobody knows the answer.
        """
        async with self._database.transaction(claim=command.fence) as tx:
            refund = await self._refunds.take_key(command.refund_id, str(command.run_key), tx)
            payment = await self._payments.find(refund.payment_id, tx.session) if refund is not None else None
        if refund is None or payment is None:
            return
        if refund.status is RefundStatus.NEEDS_REVIEW:
            note_refund(refund)
            return
        try:
            answer = await self._asked(refund, payment, command)
        except (FailureKept, NeedsReview) as refusal:
            found = await self._listed(refund, payment)
            if found is None:
                await self._refused(refund, refusal, command.fence)
                return
            answer = found
        await self._take_answer(refund, payment, answer, command.fence)

    async def _asked(self, refund: Refund, payment: Payment, command: SendRefund) -> ProviderRefund:
        if refund.provider_reference is not None:
            return await self._provider.retrieve_refund(refund.provider_reference)
        assert refund.run_key is not None
        assert payment.intent_id is not None  # a CHECK: only captured money has refunds
        request = RefundRequest(
            refund_id=refund.id,
            payment_id=payment.id,
            intent_id=payment.intent_id,
            amount_minor=refund.amount_minor,
        )
        return await self._provider.create_refund(request, command.run_key.earlier(refund.run_key))

    async def _listed(self, refund: Refund, payment: Payment) -> ProviderRefund | None:
        after: str | None = None
        while True:
            page = await self._provider.list_refunds(intent_id=payment.intent_id, after=after)
            for found in page.items:
                if found.refund_id == refund.id:
                    return found
            if page.after is None:
                return None
            after = page.after

    async def _refused(self, refund: Refund, refusal: ProviderError, fence: Claim) -> None:
        """The provider has no such refund, and says why: free the row for another key, or ask a person."""
        if isinstance(refusal, NeedsReview):
            async with self._database.transaction(claim=fence) as tx:
                stopped = await self._refunds.put_under_review(refund.id, refusal.reason, tx)
            if stopped is not None:
                note_refund(stopped)
            return
        assert refund.run_key is not None
        async with self._database.transaction(claim=fence) as tx:
            await self._refunds.drop_key(refund.id, refund.run_key, tx)
        _log.warning(
            PaymentsLogEvent.REFUND_KEY_DROPPED, refund_id=str(refund.id), run_key=refund.run_key, why=str(refusal)
        )
        raise refusal

    async def _take_answer(self, refund: Refund, payment: Payment, answer: ProviderRefund, fence: Claim) -> None:
        pending = answer.status is ProviderRefundStatus.IN_PROGRESS
        agrees = (answer.amount_minor, answer.currency) == (refund.amount_minor, payment.currency)
        concluded: Refund | None = None
        async with self._database.transaction(claim=fence) as tx:
            if not agrees:
                concluded = await self._refunds.put_under_review(refund.id, "refunded_amount_differs", tx)
            elif pending:
                await self._refunds.keep_reference(refund.id, answer.reference, tx)
            elif answer.status is ProviderRefundStatus.SUCCEEDED:
                concluded = await self._transitions.refund_done(refund.id, answer.reference, tx)
            else:
                concluded = await self._transitions.refund_failed(refund, "failed_at_provider", tx)
        if concluded is not None:
            note_refund(concluded)
        elif pending and agrees:
            raise AnswerPending(f"refund {answer.reference} of payment {payment.id} is under way")
