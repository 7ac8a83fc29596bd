"""When an order becomes an invoice, and what it says."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest
from billing_lab import PLACED, SETTLED

from billing_service.domain.invoices import OrderNotComplete, PaidAmountDiffers, language_of
from billing_service.domain.invoices.models import GatheredOrder, draft_invoice


def gathered(placed: object = PLACED, settled: object = SETTLED) -> GatheredOrder:
    return GatheredOrder(order_id=uuid4(), placed=placed, settled=settled)  # type: ignore[arg-type]


def test_an_order_is_complete_with_both_halves_and_not_before() -> None:
    assert gathered().is_complete
    assert not gathered(placed=None).is_complete
    assert not gathered(settled=None).is_complete


def test_an_invoice_says_what_was_bought_and_paid() -> None:
    order = gathered()
    draft = draft_invoice(uuid4(), order)
    assert (draft.order_id, draft.total_minor) == (order.order_id, 3_250)
    assert [(total.tax_rate_bp, total.tax_minor) for total in draft.taxes] == [(800, 56), (1_000, 227)]


@pytest.mark.parametrize("half", ["placed", "settled"])
def test_half_an_order_is_not_invoiced(half: str) -> None:
    with pytest.raises(OrderNotComplete):
        draft_invoice(uuid4(), gathered(**{half: None}))


@pytest.mark.parametrize("changes", [{"paid_minor": 3_249}, {"paid_currency": "EUR"}])
def test_a_payment_of_another_amount_or_currency_is_not_invoiced(changes: dict[str, object]) -> None:
    with pytest.raises(PaidAmountDiffers):
        draft_invoice(uuid4(), gathered(settled=replace(SETTLED, **changes)))  # type: ignore[arg-type]


def test_a_locale_that_billing_does_not_know_is_written_to_in_english() -> None:
    assert [language_of(locale) for locale in ("en", "vi", "fr")] == ["en", "vi", "en"]
