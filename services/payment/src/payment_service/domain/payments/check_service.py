"""Comparing one payment with what the provider says of its intent: for webhooks and the reconcile alike.

A check believes nobody but the provider's own answer, read after the payment was read. What it changes goes through
the same transitions as everybody else's news; what it does not understand it leaves to a person.
"""

from __future__ import annotations

from service_platform.database import Claim, Database
from service_platform.telemetry import get_logger

from .capture import cancelled
from .commands import CancelOrphan, CheckIntent, CheckRefunds, TakeHint
from .hint_table import HintTable
from .job_kinds import enqueue_check_intent
from .log_events import PaymentsLogEvent
from .models import Intent, IntentStatus, NotDecidable, Payment, PaymentStatus, outcome_of
from .payment_table import PaymentTable
from .provider import CardProvider, NeedsReview
from .reading import payments_of_intents, refunds_by_reference
from .refund_models import ProviderRefund, ProviderRefundStatus, Refund, RefundReason, RefundStatus
from .refund_table import FAILED_AFTER_DONE, RefundTable
from .transitions import Transitions, note, note_refund

_log = get_logger()


class CheckService:
    """Takes hints, and looks."""

    def __init__(
        self,
        database: Database,
        payments: PaymentTable,
        refunds: RefundTable,
        hints: HintTable,
        *,
        provider: CardProvider,
        transitions: Transitions,
    ) -> None:
        self._database = database
        self._payments = payments
        self._refunds = refunds
        self._hints = hints
        self._provider = provider
        self._transitions = transitions

    async def take_hint(self, command: TakeHint) -> None:
        """Keep the event's id and have its intent checked, in one transaction. A known event changes nothing."""
        hint = command.hint
        async with self._database.transaction() as tx:
            news = await self._hints.insert(hint, tx)
            if news and hint.intent_id is not None:
                await enqueue_check_intent(hint.intent_id, tx, because=hint.event_id)
        _log.info(PaymentsLogEvent.HINT_TAKEN, event_id=hint.event_id, event_type=hint.type, news=news)

    async def check_intent(self, command: CheckIntent) -> None:
        """Conclude the payment that stored the intent, if the provider has a final answer; flag what contradicts.

        An intent that no payment stored has no effect: a run that is creating it may be about to store it.
        """
        payment = await self._payment_of(command.intent_id)
        if payment is None:
            return
        try:
            intent = await self._provider.retrieve_intent(command.intent_id)
        except NeedsReview as refusal:
            await self._conclude_or_flag(payment, None, refusal.reason, command.fence)
            return
        await self._conclude_or_flag(payment, intent, contradiction(payment, intent), command.fence)

    async def _conclude_or_flag(
        self, payment: Payment, intent: Intent | None, contradiction: str | None, fence: Claim
    ) -> None:
        outcome = outcome_of(payment, intent) if intent is not None and payment.undecided else None
        if outcome is None and contradiction is None:
            return
        async with self._database.transaction(claim=fence) as tx:
            if outcome is not None:
                known = payment.status is PaymentStatus.NEEDS_REVIEW and isinstance(outcome, NotDecidable)
                changed = None
                if not known:
                    changed = await self._transitions.conclude(
                        payment.id, outcome, intent_id=payment.intent_id, tx=tx, from_review=True
                    )
            else:
                assert contradiction is not None
                changed = None
                if payment.status is not PaymentStatus.NEEDS_REVIEW:
                    changed = await self._payments.put_under_review(
                        payment.id, contradiction, expected=payment.status, tx=tx
                    )
        if changed is not None:
            note(changed)

    async def check_refunds(self, command: CheckRefunds) -> None:
        """Bring the refunds of the payment that stored the intent to what the provider lists of them.

        One that nobody here asked for becomes a refund that needs review. One that has had no answer for a day, and is
        not in the list, needs review as well.
        """
        payment = await self._payment_of(command.intent_id)
        if payment is None or payment.concluded_at is None or payment.amount_minor == 0:
            return
        after: str | None = None
        while True:
            page = await self._provider.list_refunds(intent_id=command.intent_id, after=after)
            for found in page.items:
                await self._take_listed(payment, found, command.fence)
            if page.after is None:
                break
            after = page.after
        async with self._database.transaction(claim=command.fence) as tx:
            given_up = await self._refunds.give_up_unanswered(payment.id, tx)
        for refund in given_up:
            note_refund(refund)

    async def _take_listed(self, payment: Payment, found: ProviderRefund, fence: Claim) -> None:
        async with self._database.read() as session:
            known = (await refunds_by_reference([found.reference], session)).get(found.reference)
            if known is None and found.refund_id is not None:
                known = await self._refunds.find(found.refund_id, session)
        if known is not None and known.payment_id != payment.id:
            known = None
        if known is None and found.status is ProviderRefundStatus.FAILED:
            return
        if known is not None and agrees(known, found):
            return
        async with self._database.transaction(claim=fence) as tx:
            if known is None:
                changed = await self._refunds.adopt(payment.id, found, tx)
            elif known.amount_minor != found.amount_minor or found.currency != payment.currency:
                changed = await self._refunds.put_under_review(
                    known.id, "refunded_amount_differs", tx, expected=known.status
                )
            elif found.status is ProviderRefundStatus.SUCCEEDED:
                changed = await self._transitions.refund_done(known.id, found.reference, tx)
            elif found.status is ProviderRefundStatus.FAILED and known.status is RefundStatus.DONE:
                changed = await self._refunds.put_under_review(
                    known.id, FAILED_AFTER_DONE, tx, expected=RefundStatus.DONE
                )
            else:
                changed = None  # under way, or failed: its own job learns of that
        if changed is not None:
            note_refund(changed)

    async def cancel_orphan(self, command: CancelOrphan) -> None:
        """Cancel an intent that a fenced-out run left behind. Nothing happens to one that its payment may still store.

        If it captured after all, which nothing here can have caused, its payment needs review.
        """
        intent = await self._provider.retrieve_intent(command.intent_id)
        async with self._database.transaction(claim=command.fence) as tx:
            payment = await self._payments.find(intent.payment_id, tx.session) if intent.payment_id else None
        if payment is None or not payment.can_never_store(command.intent_id):
            return
        if intent.status in {IntentStatus.UNCONFIRMED, IntentStatus.DECLINED}:
            intent = await cancelled(self._provider, command.intent_id, command.run_key)
            _log.info(
                PaymentsLogEvent.ORPHAN_CANCELLED, payment_id=str(payment.id), intent_id=command.intent_id,
                status=intent.status.value,
            )  # fmt: skip
        decided = payment.resolved_at is not None and payment.contested_intent == command.intent_id
        if intent.status is IntentStatus.SUCCEEDED and payment.status is not PaymentStatus.NEEDS_REVIEW and not decided:
            async with self._database.transaction(claim=command.fence) as tx:
                flagged = await self._payments.put_under_review(
                    payment.id,
                    "orphan_intent_captured",
                    expected=payment.status,
                    tx=tx,
                    contested_intent=command.intent_id,
                )
            if flagged is not None:
                note(flagged)

    async def _payment_of(self, intent_id: str) -> Payment | None:
        async with self._database.read() as session:
            found = await payments_of_intents([intent_id], [], session)
        return found[0] if found else None


def contradiction(payment: Payment, intent: Intent) -> str | None:
    """What the provider says of the stored intent that a payment in this state cannot be: a code, or None.

    The payment was read before the intent. Of one that may still be confirmed nothing can be contradicted; what it is
    by the time of the answer, the compare-and-set sees. That money was captured for one which a person resolved as not
    settled is known: all of it had gone back.
    """
    captured = intent.status is IntentStatus.SUCCEEDED
    amounts_agree = (intent.captured_minor, intent.currency) == (payment.amount_minor, payment.currency)
    match payment.status:
        case PaymentStatus.SETTLED if not captured:
            return "not_captured_at_provider"
        case PaymentStatus.SETTLED if not amounts_agree:
            return "captured_amount_differs"
        case PaymentStatus.DECLINED | PaymentStatus.CANCELLED if captured and payment.resolved_at is None:
            return f"captured_after_{payment.status.value}"
        case PaymentStatus.PROCESSING if captured:
            return "captured_without_confirming"
        case _:
            return None


def agrees(refund: Refund, found: ProviderRefund) -> bool:
    """Whether our row says of a refund what the provider does."""
    if refund.amount_minor != found.amount_minor:
        return refund.status is RefundStatus.NEEDS_REVIEW
    match found.status:
        case ProviderRefundStatus.SUCCEEDED:
            a_persons = refund.reason is RefundReason.MADE_AT_PROVIDER or refund.detail == FAILED_AFTER_DONE
            return refund.status is RefundStatus.DONE or a_persons
        case ProviderRefundStatus.FAILED:
            return refund.status in {RefundStatus.FAILED, RefundStatus.NEEDS_REVIEW}
        case ProviderRefundStatus.IN_PROGRESS:
            return refund.status in {RefundStatus.RESERVED, RefundStatus.NEEDS_REVIEW}
