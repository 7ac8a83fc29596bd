"""The judge: do orders, payments, provider captures, invoices and mails agree, one to one and to the cent?

It knows public records only and calls nothing, so that a test can plant any disagreement and see it named. What the
client was told while posting is judged like everything else. Only this run's orders count one to one; numbers are
judged over every invoice and credit note there is.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TypeVar

from demo.agreement import exactly_one, grouped, repeated, same_amount
from demo.amounts import dollars
from demo.disagreement import Disagreement, Kind
from demo.mailing import judge_mails
from demo.numbering import judge_numbers
from demo.purchases import Purchase
from demo.records import CallRecord, MoveRecord, OrderRecord, Records
from demo.run import purchase_line_of

LedgerRow = TypeVar("LedgerRow", CallRecord, MoveRecord)


def reconcile(records: Records) -> list[Disagreement]:
    """Every disagreement, in the order of the story; an empty list means that all agree."""
    return [
        *_judge_answers(records),
        *_judge_orders(records),
        *_judge_payments(records),
        *_judge_provider(records),
        *_judge_invoices(records),
        *judge_numbers(
            [*(invoice.number for invoice in records.invoices), *(note.number for note in records.credit_notes)]
        ),
        *judge_mails(records, orders_of_run(records)),
    ]


def orders_of_run(records: Records) -> dict[str, OrderRecord]:
    """This run's orders by id, told by their customer from every other order in the stack."""
    return {order.id: order for order in records.orders if records.run.owns_customer(order.customer_id)}


def purchase_lines(order: OrderRecord) -> set[int | None]:
    """The lines of the file that the order's own lines were made from; one, if all is well."""
    return {purchase_line_of(sku) for sku in order.skus}


def _judge_answers(records: Records) -> Iterator[Disagreement]:
    orders = orders_of_run(records)
    answers = {answer.line: answer for answer in records.answers}
    for purchase in records.purchases:
        answer = answers.get(purchase.line)
        if answer is None or answer.order_id is None:
            refusal = answer.refusal if answer and answer.refusal else "none"
            yield Disagreement(Kind.ANSWER_MISSING, _purchase(purchase), "an answer to POST /orders", refusal)
        elif answer.order_id not in orders:
            yield Disagreement(
                Kind.ANSWER_DIFFERS, _purchase(purchase), f"order {answer.order_id}, as POST answered", "no such order"
            )
        elif purchase_lines(orders[answer.order_id]) != {purchase.line}:
            lines = sorted(map(str, purchase_lines(orders[answer.order_id])))
            yield Disagreement(
                Kind.ANSWER_DIFFERS,
                f"order {answer.order_id}, as POST answered",
                _purchase(purchase),
                f"the order of line {', '.join(lines)}",
            )


def _judge_orders(records: Records) -> Iterator[Disagreement]:
    purchases = {purchase.line: purchase for purchase in records.purchases}
    by_line: defaultdict[int, list[OrderRecord]] = defaultdict(list)
    for order in orders_of_run(records).values():
        lines = purchase_lines(order)
        if len(lines) == 1 and (line := lines.pop()) is not None and line in purchases:
            by_line[line].append(order)
        else:
            yield Disagreement(
                Kind.ORDER_UNKNOWN, f"order {order.id}", "lines of one purchase played", f"skus {', '.join(order.skus)}"
            )
    for purchase in records.purchases:
        orders = by_line[purchase.line]
        yield from exactly_one(orders, _purchase(purchase), Kind.ORDER_MISSING, Kind.ORDER_DOUBLE, attrgetter("id"))
        for order in orders:
            yield from _judge_order(records, purchase, order)


def _judge_order(records: Records, purchase: Purchase, order: OrderRecord) -> Iterator[Disagreement]:
    subject = f"order {order.id} of {_purchase(purchase)}"
    if order.customer_id != records.run.customer_id(purchase):
        yield Disagreement(Kind.ORDER_CUSTOMER, subject, records.run.customer_id(purchase), order.customer_id)
    yield from same_amount(Kind.ORDER_AMOUNT, subject, purchase.cents, order.total_minor, order.currency)
    if order.status != "paid":
        yield Disagreement(Kind.ORDER_STATUS, subject, "paid", order.status)
    for told in repeated(order.timeline):
        yield Disagreement(Kind.ORDER_TOLD_TWICE, subject, f"{told} once in its timeline", "it more than once")


def _judge_payments(records: Records) -> Iterator[Disagreement]:
    by_order = grouped(records.payments, lambda payment: payment.order_id)
    captures = moves_by_order(records, "capture")
    for order in orders_of_run(records).values():
        payments = by_order[order.id]
        yield from exactly_one(
            payments, f"order {order.id}", Kind.PAYMENT_MISSING, Kind.PAYMENT_DOUBLE, attrgetter("id")
        )
        for payment in payments:
            subject = f"payment {payment.id} of order {order.id}"
            yield from same_amount(
                Kind.PAYMENT_AMOUNT, subject, order.total_minor, payment.amount_minor, payment.currency
            )
            for capture in captures[order.id]:
                if capture.intent != payment.intent:
                    yield Disagreement(
                        Kind.CAPTURE_REFERENCE, subject, f"a capture of its intent {payment.intent}", capture.intent
                    )
            if payment.status != "settled":
                yield Disagreement(Kind.PAYMENT_STATUS, subject, "settled", payment.status)


def _judge_provider(records: Records) -> Iterator[Disagreement]:
    captures, refunds = moves_by_order(records, "capture"), moves_by_order(records, "refund")
    calls = _by_order(records, records.calls)
    for order in orders_of_run(records).values():
        subject = f"order {order.id}"
        if order.total_minor == 0:
            if called := [f"{call.operation} (call {call.seq})" for call in calls[order.id]]:
                yield Disagreement(
                    Kind.FREE_ORDER_CALLED, f"{subject}, which is free", "no call to the provider", ", ".join(called)
                )
        else:
            yield from exactly_one(
                captures[order.id], subject, Kind.CAPTURE_MISSING, Kind.CAPTURE_DOUBLE, attrgetter("intent")
            )
        for capture in captures[order.id]:
            yield from same_amount(
                Kind.CAPTURE_AMOUNT,
                f"capture of intent {capture.intent} for {subject}",
                order.total_minor,
                capture.amount_minor,
                capture.currency,
            )
        for refund in refunds[order.id]:
            yield Disagreement(
                Kind.CAPTURE_REFUNDED, subject, "no refund", f"{refund.amount_minor} cents of intent {refund.intent}"
            )


def _judge_invoices(records: Records) -> Iterator[Disagreement]:
    by_order = grouped(records.invoices, lambda invoice: invoice.order_id)
    credit_notes = grouped(records.credit_notes, lambda note: note.order_id)
    for order in orders_of_run(records).values():
        invoices = by_order[order.id]
        yield from exactly_one(
            invoices, f"order {order.id}", Kind.INVOICE_MISSING, Kind.INVOICE_DOUBLE, attrgetter("number")
        )
        for invoice in invoices:
            subject = f"invoice {invoice.number} of order {order.id}"
            yield from same_amount(
                Kind.INVOICE_AMOUNT, subject, order.total_minor, invoice.total_minor, invoice.currency
            )
            if order.invoice_number != invoice.number:
                yield Disagreement(
                    Kind.ORDER_INVOICE_NUMBER, f"order {order.id}", invoice.number, str(order.invoice_number)
                )
        for note in credit_notes[order.id]:
            yield Disagreement(Kind.CREDIT_NOTE_UNFOUNDED, f"order {order.id}", "no credit note", note.number)


def moves_by_order(records: Records, kind: str) -> defaultdict[str | None, list[MoveRecord]]:
    """The movements of one kind, by the order whose money they moved."""
    return _by_order(records, [move for move in records.moves if move.kind == kind])


def _by_order(records: Records, rows: Sequence[LedgerRow]) -> defaultdict[str | None, list[LedgerRow]]:
    """Rows of the ledger by the order of their payment, which every intent names, or else by the order they name."""
    order_of_payment = {payment.id: payment.order_id for payment in records.payments}
    return grouped(rows, lambda row: order_of_payment.get(row.payment_id or "", row.order_id))


def _purchase(purchase: Purchase) -> str:
    return f"purchase of line {purchase.line} ({purchase.cds} CDs, {dollars(purchase.cents)})"
