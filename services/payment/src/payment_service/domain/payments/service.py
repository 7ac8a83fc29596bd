"""The use cases of payments. Each opens its own transactions; none is open while the provider is called."""

from __future__ import annotations

from uuid import UUID, uuid4

from service_platform.database import Claim, Database
from service_platform.telemetry import get_logger

from .capture import cancelled, closed, confirmed
from .commands import CancelPayment, CloseIntent, ConfirmIntent, CreateIntent, OpenPayment
from .errors import AnswerPending
from .job_kinds import enqueue_capture_payment
from .log_events import PaymentsLogEvent
from .models import Declined, Intent, IntentStatus, NotDecidable, Outcome, Payment, outcome_of
from .payment_table import PaymentTable
from .provider import CardDeclined, CardProvider, IntentRequest, NeedsReview
from .transitions import Transitions, note

_log = get_logger()


class PaymentService:
    """Opens an order's payment, captures it exactly once or cancels it, and tells about it.

    What a crash or a stale worker leaves at each boundary of a capture, and why it is right, stands in the
    service's README.
    """

    def __init__(
        self, database: Database, payments: PaymentTable, provider: CardProvider, transitions: Transitions
    ) -> None:
        self._database = database
        self._payments = payments
        self._provider = provider
        self._transitions = transitions

    async def open_payment(self, command: OpenPayment) -> None:
        """Open the payment of an order and let a job capture it; a free order's is settled right here.

        An order has one payment: opening it again changes nothing, and neither does opening one that was cancelled
        before it came to be.
        """
        free = command.total_minor == 0
        async with self._database.transaction(claim=command.claim) as tx:
            payment = await self._payments.insert(
                uuid4(),
                order_id=command.order_id,
                amount_minor=command.total_minor,
                currency=command.currency,
                payment_method=command.payment_method,
                settled=free,
                tx=tx,
            )
            if payment is None:
                return
            if free:
                await self._transitions.tell(payment, tx)
            else:
                await enqueue_capture_payment(payment.id, tx)
        if free:
            note(payment)

    async def cancel(self, command: CancelPayment) -> None:
        """The order is cancelled. Before anything was confirmed, so is its payment, and no money moves.

        Once it is `confirming` the cancel is only recorded: the provider's answer makes the payment cancelled, or
        settled with one refund. Of a settled one all that is left goes back. A second cancel changes nothing.
        """
        async with self._database.transaction(claim=command.claim) as tx:
            payment = await self._transitions.cancel(command.order_id, tx)
        if payment is not None:
            _log.info(
                PaymentsLogEvent.CANCEL_RECORDED,
                payment_id=str(payment.id),
                order_id=str(payment.order_id),
                payment_status=payment.status.value,
            )

    async def create_intent(self, command: CreateIntent) -> None:
        """Give the payment an unconfirmed intent of its own; no money moves.

        A fenced-out run may have left another intent at the provider. It is never stored, so never confirmed. What
        the provider refuses here concludes the payment, since nothing was ever confirmed for it.
        """
        async with self._database.transaction(claim=command.fence) as tx:
            payment = await self._payments.start(command.payment_id, tx)
        if not payment.wants_intent:
            return
        created = await self._created(payment, command)
        if isinstance(created, Intent):
            async with self._database.transaction(claim=command.fence) as tx:
                await self._payments.keep_intent(payment.id, created.id, tx)
        else:
            await self._conclude(payment.id, created, intent_id=None, fence=command.fence)

    async def _created(self, payment: Payment, command: CreateIntent) -> Intent | Declined | NotDecidable:
        request = IntentRequest(
            payment_id=payment.id,
            order_id=payment.order_id,
            amount_minor=payment.amount_minor,
            currency=payment.currency,
            payment_method=payment.payment_method,
        )
        try:
            return await self._provider.create_intent(request, command.run_key)
        except CardDeclined as refusal:
            return Declined(refusal.reason)
        except NeedsReview as refusal:
            return NotDecidable(refusal.reason)

    async def confirm_intent(self, command: ConfirmIntent) -> None:
        """Confirm the stored intent; a capture settles the payment. A decline is left to `close_intent`.

        Nothing happens where the payment is concluded, or where a cancel was recorded before `confirming`: it is
        cancelled then. Where one was recorded since, nothing more is confirmed; `close_intent` has the last word.
        Raises `AnswerPending` or `ProviderUnavailable` while nobody knows the answer: the payment stays open.
        """
        async with self._database.transaction(claim=command.fence) as tx:
            payment, moved = await self._payments.enter_confirming(command.payment_id, tx)
        if payment.confirming_intent is None or payment.cancel_requested_at is not None:
            return
        try:
            intent = await confirmed(
                self._provider, payment.confirming_intent, command.run_key, was_confirming=not moved
            )
        except NeedsReview as refusal:
            outcome: Outcome = NotDecidable(refusal.reason)
        else:
            if intent.status is IntentStatus.DECLINED:
                return
            outcome = _final(payment, intent)
        await self._conclude(payment.id, outcome, intent_id=payment.confirming_intent, fence=command.fence)

    async def close_intent(self, command: CloseIntent) -> None:
        """Cancel an intent that was declined or is not wanted any more. The provider's answer decides about a payment
        that is `confirming`: declined or cancelled, or captured after all.

        Nothing happens, and nothing is written, where the payment is concluded and not cancelled.
        """
        async with self._database.read() as session:
            payment = await self._payments.find(command.payment_id, session)
        if payment is None or not (payment.confirming_intent or payment.useless_intent):
            return
        async with self._database.transaction(claim=command.fence):
            pass  # a stale run stops here, before it cancels anything
        if payment.confirming_intent is None:
            assert payment.useless_intent is not None
            await cancelled(self._provider, payment.useless_intent, command.run_key)
            return
        try:
            intent = await closed(
                self._provider,
                payment.confirming_intent,
                command.run_key,
                cancel_recorded=payment.cancel_requested_at is not None,
            )
        except NeedsReview as refusal:
            outcome: Outcome = NotDecidable(refusal.reason)
        else:
            outcome = _final(payment, intent)
        await self._conclude(payment.id, outcome, intent_id=payment.confirming_intent, fence=command.fence)

    async def _conclude(self, payment_id: UUID, outcome: Outcome, *, intent_id: str | None, fence: Claim) -> None:
        async with self._database.transaction(claim=fence) as tx:
            payment = await self._transitions.conclude(payment_id, outcome, intent_id=intent_id, tx=tx)
        if payment is not None:
            note(payment)


def _final(payment: Payment, intent: Intent) -> Outcome:
    outcome = outcome_of(payment, intent)
    if outcome is None:
        raise AnswerPending(f"intent {intent.id} of payment {payment.id} is {intent.status}")
    return outcome
