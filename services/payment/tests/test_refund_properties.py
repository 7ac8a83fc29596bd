"""Refunds of any amounts, one after the other and at once: the sum is what it must be, and no refusal is wrong."""

from __future__ import annotations

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from payment_lab import PaymentLab

from payment_service.domain.payments import RefundExceedsCapture, RefundView

amounts = st.none() | st.integers(1, 400) | st.integers(1, 10**6)
"""In minor units; None asks for all that is left."""


@settings(
    max_examples=15,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example has a payment of its own
)
@given(total_minor=st.integers(1, 1_000), waves=st.lists(st.lists(amounts, min_size=1, max_size=4), max_size=4))
async def test_what_goes_back_is_what_was_granted_and_never_more_than_was_captured(
    lab: PaymentLab, total_minor: int, waves: list[list[int | None]]
) -> None:
    payment_id = (await lab.settled(total_minor=total_minor))["id"]
    left = total_minor
    for asked in waves:
        answers = await asyncio.gather(
            *(lab.refund(payment_id, amount_minor) for amount_minor in asked), return_exceptions=True
        )
        granted = [answer.amount_minor for answer in answers if isinstance(answer, RefundView)]
        refused = [amount for amount, answer in zip(asked, answers, strict=True) if not isinstance(answer, RefundView)]
        assert {type(answer) for answer in answers} <= {RefundView, RefundExceedsCapture}
        left -= sum(granted)
        assert left >= 0
        # What is left only shrinks, so who was refused asked for more than was left in the end.
        assert all(left == 0 if amount is None else amount > left for amount in refused)
    await lab.deliver()
    (payment,) = await lab.rows(f"SELECT * FROM payments WHERE id = '{payment_id}'")
    assert (payment["refunded_minor"], payment["refund_reserved_minor"]) == (total_minor - left, 0)
