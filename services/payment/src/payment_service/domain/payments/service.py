"""The use cases of payments. Each opens its own transactions; none is open while the provider is called."""

from __future__ import annotations

from uuid import UUID, uuid4

from payment_service.events import PaymentDeclined, PaymentSettled
from service_platform.database import Claim, Database, Transaction
from service_platform.event_bus import EventBus
from service_platform.telemetry import get_logger

from .capture import cancelled_if_declined, confirmed
from .commands import CloseDeclinedIntent, ConfirmIntent, CreateIntent, OpenPayment
from .errors import AnswerPending
from .job_kinds import enqueue_capture_payment
from .log_events import PaymentsLogEvent
from .models import Declined, Intent, IntentStatus, NotDecidable, Outcome, Payment, PaymentStatus, outcome_of
from .provider import CardDeclined, CardProvider, IntentRequest, NeedsReview
from .table import PaymentTable

_log = get_logger()


class PaymentService:
    """Opens an order's payment, captures it exactly once, and tells about it.

    What a crash or a stale worker leaves at each boundary of a capture, and why it is right, stands in the
    service's README.
    """

    def __init__(self, database: Database, payments: PaymentTable, provider: CardProvider, event_bus: EventBus) -> None:
        self._database = database
        self._payments = payments
        self._provider = provider
        self._event_bus = event_bus

    async def open_payment(self, command: OpenPayment) -> None:
        """Open the payment of an order and let a job capture it; a free order's is settled right here.

        An order has one payment: opening it again changes nothing.
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
                await self._tell(payment, tx)
            else:
                await enqueue_capture_payment(payment.id, tx)
        if free:
            _note(payment)

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
        """Confirm the stored intent; a capture settles the payment. A decline is left to `close_declined_intent`.

        Nothing happens where the payment is concluded, or where a cancel was recorded before `confirming`: the
        payment then belongs to the cancel. Raises `AnswerPending` or `ProviderUnavailable` while nobody knows the
        answer: the payment stays open.
        """
        async with self._database.transaction(claim=command.fence) as tx:
            payment, moved = await self._payments.enter_confirming(command.payment_id, tx)
        if payment.confirming_intent is None:
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

    async def close_declined_intent(self, command: CloseDeclinedIntent) -> None:
        """Cancel the declined intent at the provider, whose answer decides: declined, or captured after all.

        Nothing happens, and nothing is written, where the payment is not `confirming` any more.
        """
        async with self._database.read() as session:
            payment = await self._payments.find(command.payment_id, session)
        if payment is None or payment.confirming_intent is None:
            return
        async with self._database.transaction(claim=command.fence):
            pass  # a stale run stops here, before it cancels anything
        try:
            intent = await cancelled_if_declined(self._provider, payment.confirming_intent, command.run_key)
        except NeedsReview as refusal:
            outcome: Outcome = NotDecidable(refusal.reason)
        else:
            outcome = _final(payment, intent)
        await self._conclude(payment.id, outcome, intent_id=payment.confirming_intent, fence=command.fence)

    async def _conclude(self, payment_id: UUID, outcome: Outcome, *, intent_id: str | None, fence: Claim) -> None:
        """The one place where a payment gets its final state, and tells about it in the same transaction.

        A compare-and-set: whoever comes second, by whatever way, changes and tells nothing.
        """
        async with self._database.transaction(claim=fence) as tx:
            payment = await self._payments.conclude(payment_id, outcome, intent_id=intent_id, tx=tx)
            if payment is not None:
                await self._tell(payment, tx)
        if payment is not None:
            _note(payment)

    async def _tell(self, payment: Payment, tx: Transaction) -> None:
        if payment.status is PaymentStatus.SETTLED and payment.concluded_at is not None:
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


def _final(payment: Payment, intent: Intent) -> Outcome:
    outcome = outcome_of(payment, intent)
    if outcome is None:
        raise AnswerPending(f"intent {intent.id} of payment {payment.id} is {intent.status}")
    return outcome


def _note(payment: Payment) -> None:
    about = {"payment_id": str(payment.id), "order_id": str(payment.order_id)}
    match payment.status:
        case PaymentStatus.SETTLED:
            _log.info(PaymentsLogEvent.SETTLED, **about)
        case PaymentStatus.DECLINED:
            _log.info(PaymentsLogEvent.DECLINED, **about, reason=payment.reason)
        case PaymentStatus.NEEDS_REVIEW:
            _log.error(PaymentsLogEvent.NEEDS_REVIEW, **about, reason=payment.reason)
