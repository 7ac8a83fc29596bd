"""People who decide about what needs review, as operator actions on a lab."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from payment_lab import PaymentLab

from payment_service.domain.payments import RefundRequest
from payment_service.operations.payments import RESOLVE_PAYMENT, PaymentRow, ResolvePaymentInput
from payment_service.operations.refunds import RESOLVE_REFUND, RefundRow, ResolveRefundInput
from service_platform.jobs import RunKey
from service_platform.jobs.run import CLAIMED
from service_platform.ops import ActionRunner, Operator

JANE = Operator("jane", "function")
WHY = "ticket 4711"


def key_by_hand() -> RunKey:
    """A key that no run has."""
    return RunKey(CLAIMED, job_id=uuid4(), step="by-hand", token=1)


async def resolve(lab: PaymentLab, status: Any, payment_id: UUID | None = None) -> PaymentRow:
    """Jane resolves the payment, or the one that there is."""
    given = ResolvePaymentInput(id=payment_id or (await lab.payment())["id"], status=status, reason=WHY)
    return await _runner(lab).run(RESOLVE_PAYMENT, given, JANE)


async def resolve_refund(lab: PaymentLab, status: Any, reference: str | None = None) -> RefundRow:
    """Jane resolves the oldest refund."""
    given = ResolveRefundInput(
        id=(await lab.refunds())[0]["id"], status=status, provider_reference=reference, reason=WHY
    )
    return await _runner(lab).run(RESOLVE_REFUND, given, JANE)


async def refund_by_hand(lab: PaymentLab, intent_id: str, amount_minor: int) -> str:
    """Somebody gives money back at the provider; the provider's name for that refund."""
    made = RefundRequest(refund_id=uuid4(), payment_id=uuid4(), intent_id=intent_id, amount_minor=amount_minor)
    return (await lab.provider.create_refund(made, key_by_hand())).reference


async def audited(lab: PaymentLab) -> list[tuple[str, str]]:
    """Action and outcome of each call."""
    rows = await lab.rows("SELECT action, outcome FROM operator_audit ORDER BY at, id")
    return [(row["action"], row["outcome"]) for row in rows]


def _runner(lab: PaymentLab) -> ActionRunner:
    return ActionRunner(lab.database, "payment", outside=lab.services.reviews)
