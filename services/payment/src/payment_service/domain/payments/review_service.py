"""What people decide about payments and refunds that no machine could decide.

Each decision has two parts. First the provider's ledger is looked at, outside of any transaction. Then, in the
transaction of the caller, the decision is written if the rules allow it by what was seen, and if the row is still the
one that was seen: a job, a check of the reconcile, a cancel or another person may have been there meanwhile.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.sql import func

from service_platform.database import Database, Transaction

from .commands import ResolvePayment, ResolveRefund
from .errors import PaymentNotFound
from .models import Payment
from .payment_table import PaymentTable
from .provider import CardProvider, NeedsReview, ProviderUnavailable
from .reading import refunds_by_reference
from .refund_models import ProviderRefund, ProviderRefundStatus, Refund
from .refund_table import FAILED_AFTER_DONE, RefundTable
from .review_errors import LedgerAway, LedgerDisagrees, NotUnderReview, UnknownRefund
from .review_rules import Held, PaymentLedger, RefundLedger, check_payment, check_refund
from .transitions import Transitions
from .views import PaymentView, RefundView

DECIDED: Final = "decided_by_a_person"
"""The reason of a payment that was resolved as declined, and the detail of a refund that was resolved as failed."""


class ReviewService:
    """Looks at the provider's ledger, and writes down what a person decided."""

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

    async def look_at_payment(self, payment_id: UUID) -> PaymentLedger:
        """What the provider says of the payment's intents.

        Raises `PaymentNotFound`, `LedgerAway`, `LedgerDisagrees`.
        """
        async with self._database.read() as session:
            payment = await self._payments.find(payment_id, session)
        if payment is None:
            raise PaymentNotFound(payment_id)
        return PaymentLedger(
            payment=payment,
            own=await self._held(payment.intent_id),
            contested=await self._held(payment.contested_intent),
        )

    async def resolve_payment(self, command: ResolvePayment, tx: Transaction) -> PaymentView:
        """Write the decision down, and tell others what they do not know. Raises what `review_rules` refuses by."""
        check_payment(command.seen, settled=command.settled)
        seen = command.seen.payment
        payment = await self._transitions.resolve(seen, settled=command.settled, reason=DECIDED, tx=tx)
        if payment is None:
            raise NotUnderReview(state=await self._state_of(seen, tx))
        return PaymentView.of(payment)

    async def look_at_refund(self, refund_id: UUID, reference: str | None) -> RefundLedger:
        """What the provider says of the refund, or of the one that is named `reference` and is to stand for it.

        Raises `UnknownRefund`, `LedgerAway`, `LedgerDisagrees`.
        """
        async with self._database.read() as session:
            refund = await self._refunds.find(refund_id, session)
            payment = await self._payments.find(refund.payment_id, session) if refund is not None else None
            asked_at: datetime = (await session.execute(select(func.platform_now()))).scalar_one()
        if refund is None or payment is None:
            raise UnknownRefund(refund_id=str(refund_id))
        found = await self._found(refund, payment, reference)
        taken = False
        if found is not None:
            async with self._database.read() as session:
                known = (await refunds_by_reference([found.reference], session)).get(found.reference)
            taken = known is not None and known.id != refund.id
        return RefundLedger(refund=refund, payment=payment, asked_at=asked_at, found=found, taken=taken)

    async def resolve_refund(self, command: ResolveRefund, tx: Transaction) -> RefundView:
        """Write the decision down, and tell others of a refund that they do not know."""
        check_refund(command.seen, done=command.done)
        seen, payment, found = command.seen.refund, command.seen.payment, command.seen.found
        refund = await self._transitions.resolve_refund(
            seen,
            reference=found.reference if found is not None and command.done else seen.provider_reference,
            detail=None if command.done else DECIDED,
            told=seen.detail == FAILED_AFTER_DONE or not payment.told_as_settled,
            tx=tx,
        )
        if refund is None:
            now = await self._refunds.find(seen.id, tx.session)
            raise NotUnderReview(state=now.status.value if now is not None else "gone")
        return RefundView.of(refund, payment.currency)

    async def _held(self, intent_id: str | None) -> Held | None:
        if intent_id is None:
            return None
        with _asking(intent_id):
            intent = await self._provider.retrieve_intent(intent_id)
            back = [found async for found in self._listed(intent_id) if found.status is ProviderRefundStatus.SUCCEEDED]
        return Held(intent=intent, given_back_minor=sum(found.amount_minor for found in back))

    async def _found(self, refund: Refund, payment: Payment, reference: str | None) -> ProviderRefund | None:
        named = reference if reference is not None else refund.provider_reference
        if named is not None:
            with _asking(named):
                return await self._provider.retrieve_refund(named)
        assert payment.intent_id is not None  # a CHECK: only captured money has refunds
        with _asking(payment.intent_id):
            async for found in self._listed(payment.intent_id):
                if found.refund_id == refund.id:
                    return found
        return None

    async def _listed(self, intent_id: str) -> AsyncIterator[ProviderRefund]:
        after: str | None = None
        while True:
            page = await self._provider.list_refunds(intent_id=intent_id, after=after)
            for found in page.items:
                yield found
            if page.after is None:
                return
            after = page.after

    async def _state_of(self, seen: Payment, tx: Transaction) -> str:
        now = await self._payments.find(seen.id, tx.session)
        return now.status.value if now is not None else "gone"


@contextlib.contextmanager
def _asking(reference: str) -> Iterator[None]:
    try:
        yield
    except ProviderUnavailable as error:
        raise LedgerAway from error
    except NeedsReview as refusal:
        raise LedgerDisagrees(reference=reference, code=refusal.reason) from refusal
