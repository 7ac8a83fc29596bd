"""The judge of orders that their customers cancelled: one end each, no money kept, and papers that say so to the cent.

It calls nothing and knows public records and what the customers were told only, so that a test can plant any fault and
hear it named. The numbers of documents are judged by `demo.reconcile`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from demo.agreement import grouped, repeated
from demo.mailing import judge_mails
from demo.reconcile import moves_by_order, orders_of_run, purchase_lines
from demo.records import CreditNoteRecord, InvoiceRecord, MoveRecord, OrderRecord, PaymentRecord, Records
from demo.run import CURRENCY, Run

from .judge import Objection, objection_to
from .regrets import Regret

# A cancel that comes before the payment is opened leaves a payment of nothing.
_NEVER_OPENED = (0, "XXX")


@dataclass(frozen=True)
class Story:
    """All that the records say of one order."""

    order: OrderRecord
    payments: Sequence[PaymentRecord]
    captures: Sequence[MoveRecord]
    refunds: Sequence[MoveRecord]
    invoices: Sequence[InvoiceRecord]
    credit_notes: Sequence[CreditNoteRecord]


@dataclass(frozen=True)
class Claim:
    """That something is one of what it may be."""

    about: str
    allowed: Sequence[object]
    seen: object

    def __str__(self) -> str:
        return f"{self.about} should be {' or '.join(map(str, self.allowed))}"


def judge_outcomes(records: Records, regrets: Sequence[Regret]) -> list[Objection]:
    """Every objection to the orders of `records.run`, all of which were placed and cancelled as `regrets` tells."""
    orders, stories = orders_of_run(records), _stories(records)
    by_line = grouped(orders.values(), lambda order: frozenset(purchase_lines(order)))
    found = [*_strangers(orders, regrets), *_strange_money(records)]
    for regret in regrets:
        made = by_line[frozenset({regret.purchase.line})]
        found += _one_order(regret, made)
        for order in made:
            found += (
                Objection(f"order {order.id}: {claim} and is {claim.seen}", (order.id,))
                for claim in _claims(records.run, regret, stories[order.id])
                if claim.seen not in claim.allowed
            )
    return [*found, *map(objection_to, judge_mails(records, orders))]


def tally(records: Records) -> Counter[str]:
    """How many orders of the run ended in which way."""
    return Counter(
        f"{order.status} and refunded" if order.refunded_minor else order.status
        for order in orders_of_run(records).values()
    )


def _strangers(orders: Mapping[str, OrderRecord], regrets: Sequence[Regret]) -> Iterator[Objection]:
    played = {frozenset({regret.purchase.line}) for regret in regrets}
    for order in orders.values():
        if purchase_lines(order) not in played:
            yield Objection(f"order {order.id} of {', '.join(order.skus)} is one that nobody placed", (order.id,))


def _strange_money(records: Records) -> Iterator[Objection]:
    for kind in ("capture", "refund"):
        for move in moves_by_order(records, kind)[None]:
            yield Objection(f"the {kind} of {move.amount_minor} by {move.intent} is of no order", (move.intent,))


def _one_order(regret: Regret, made: Sequence[OrderRecord]) -> Iterator[Objection]:
    ids = tuple(order.id for order in made)
    if ids != (regret.placed.order_id,):
        answer = regret.placed.order_id or regret.placed.refusal
        yield Objection(
            f"purchase of line {regret.purchase.line}: POST /orders answered {answer}, and its orders are "
            f"{', '.join(ids) or 'none'}",
            ids,
        )


def _claims(run: Run, regret: Regret, story: Story) -> Iterator[Claim]:
    order, price = story.order, (regret.purchase.cents, CURRENCY)
    yield Claim("its customer", [run.customer_id(regret.purchase)], order.customer_id)
    yield Claim("its price", [price], (order.total_minor, order.currency))
    yield Claim("its state, as its cancel was answered,", [regret.refused_as or "cancelled"], order.status)
    yield Claim("what its timeline tells more than once", [[]], repeated(order.timeline))
    yield Claim("its end", ["cancelled"] if regret.card_pays else ["cancelled", "declined"], order.status)
    yield from _claims_on_money(regret, story)
    yield from _claims_on_papers(price, story)


def _claims_on_money(regret: Regret, story: Story) -> Iterator[Claim]:
    cents = regret.purchase.cents
    captured = [move.amount_minor for move in story.captures]
    refunded = [move.amount_minor for move in story.refunds]
    yield Claim("the count of its payments", [1], len(story.payments))
    for payment in story.payments:
        yield Claim("its payment's state", _payment_ends(regret, story), payment.status)
        amounts = [(cents, CURRENCY), *([_NEVER_OPENED] if payment.status == "cancelled" else [])]
        yield Claim("its payment's amount", amounts, (payment.amount_minor, payment.currency))
        for move in (*story.captures, *story.refunds):
            wanted = (payment.intent, CURRENCY.lower())
            yield Claim(f"the intent and currency of its {move.kind}", [wanted], (move.intent, move.currency))
    yield Claim("what was captured", [[], [cents]] if regret.card_pays and cents else [[]], captured)
    yield Claim("what was refunded", [captured], refunded)
    yield Claim("what it says was refunded", [sum(refunded)], story.order.refunded_minor)


def _payment_ends(regret: Regret, story: Story) -> Sequence[str]:
    if story.captures:
        return ["settled"]
    if story.order.status == "declined":
        return ["declined"]
    if not regret.purchase.cents:
        return ["cancelled", "settled"]
    return ["cancelled"] if regret.card_pays else ["cancelled", "declined"]


def _claims_on_papers(price: tuple[int, str], story: Story) -> Iterator[Claim]:
    settled = any(payment.status == "settled" for payment in story.payments)
    invoices, notes = story.invoices, story.credit_notes
    yield Claim(
        "its invoices", [[price] if settled else []], [(invoice.total_minor, invoice.currency) for invoice in invoices]
    )
    # Of a free order nothing is given back.
    credited = [(*price, invoice.number) for invoice in invoices if invoice.total_minor]
    yield Claim(
        "its credit notes", [credited], [(note.total_minor, note.currency, note.invoice_number) for note in notes]
    )
    numbers = tuple(note.number for note in notes)
    yield Claim("its invoice number", [invoice.number for invoice in invoices] or [None], story.order.invoice_number)
    yield Claim("its credit note numbers", [numbers], story.order.credit_note_numbers)


def _stories(records: Records) -> dict[str, Story]:
    payments = grouped(records.payments, lambda payment: payment.order_id)
    captures, refunds = moves_by_order(records, "capture"), moves_by_order(records, "refund")
    invoices = grouped(records.invoices, lambda invoice: invoice.order_id)
    notes = grouped(records.credit_notes, lambda note: note.order_id)
    return {
        key: Story(order, payments[key], captures[key], refunds[key], invoices[key], notes[key])
        for key, order in orders_of_run(records).items()
    }
