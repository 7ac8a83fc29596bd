"""The sums of a run, side by side: how many of each kind, and how many cents."""

from collections.abc import Iterable
from dataclasses import dataclass

from demo.reconcile import orders_of_run
from demo.records import Records


@dataclass(frozen=True, slots=True)
class Total:
    """One row: `cents` is None for what carries no amount of its own."""

    name: str
    count: int
    cents: int | None


def totals(records: Records) -> list[Total]:
    """Purchases played, and what the records of this run's orders add up to; free orders have no capture."""
    orders = orders_of_run(records)
    payments = {payment.id: payment for payment in records.payments if payment.order_id in orders}
    captures = [
        move.amount_minor
        for move in records.moves
        if move.kind == "capture" and (move.payment_id in payments or move.order_id in orders)
    ]
    mails = [mail for mail in records.mails if any(map(records.run.owns_address, mail.to))]
    free = sum(purchase.cents == 0 for purchase in records.purchases)
    return [
        _total("purchases played", (purchase.cents for purchase in records.purchases)),
        Total("… of them free", free, None),
        _total("orders", (order.total_minor for order in orders.values())),
        _total("payments", (payment.amount_minor for payment in payments.values())),
        _total("captures at the provider", captures),
        _total("invoices", (invoice.total_minor for invoice in records.invoices if invoice.order_id in orders)),
        Total("mails with an attachment", sum(bool(mail.attachments) for mail in mails), None),
    ]


def _total(name: str, amounts: Iterable[int]) -> Total:
    cents = list(amounts)
    return Total(name, len(cents), sum(cents))
