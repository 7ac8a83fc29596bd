"""Issuing invoices, on a real database."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from uuid import uuid4

import orjson
import pytest
from billing_lab import PLACED, SETTLED, FlakyBus, all_invoices, issued, record_placed, record_settled, rows
from sqlalchemy.exc import IntegrityError

from billing_service.bootstrap import invoice_service
from billing_service.domain.invoices import (
    CreditNoteTable,
    GatheredOrderTable,
    InvoiceService,
    InvoiceTable,
    PaidAmountDiffers,
)
from service_platform.database import Database
from service_platform.inbox import AlreadyHandled


async def numbers(database: Database) -> list[str]:
    return sorted(invoice.number for invoice in await all_invoices(database))


async def test_the_halves_make_one_invoice_in_either_order(billing_database: Database) -> None:
    service = invoice_service(billing_database)
    first, second = uuid4(), uuid4()
    await service.record_placed_order(record_placed(first))
    assert await all_invoices(billing_database) == []
    await service.record_settled_payment(record_settled(first))
    await service.record_settled_payment(record_settled(second))
    await service.record_placed_order(record_placed(second))
    invoices = await all_invoices(billing_database)
    assert {invoice.order_id for invoice in invoices} == {first, second}
    assert {invoice.total_minor for invoice in invoices} == {3_250}


async def test_the_halves_at_the_same_instant_make_one_invoice(billing_database: Database) -> None:
    service = invoice_service(billing_database)
    orders = [uuid4() for _ in range(12)]
    halves = [service.record_placed_order(record_placed(order)) for order in orders]
    halves += [service.record_settled_payment(record_settled(order)) for order in orders]
    await asyncio.gather(*halves)
    invoiced = Counter(invoice.order_id for invoice in await all_invoices(billing_database))
    assert invoiced == Counter(orders)


async def test_an_invoice_its_event_and_its_job_commit_together(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    sent = dict(await rows(billing_database, "SELECT channel, payload FROM outbox"))
    event = orjson.loads(sent["kafka"])  # type: ignore[arg-type]
    assert (event["invoice_number"], event["invoice_id"]) == (invoice.number, str(invoice.id))
    assert event["total_minor"] == 3_250
    assert orjson.loads(sent["celery"])["job_key"] == f"deliver:{invoice.id}"  # type: ignore[arg-type]


async def test_the_same_delivery_twice_changes_nothing_twice(billing_database: Database) -> None:
    service = invoice_service(billing_database)
    order = uuid4()
    settled = record_settled(order)
    await service.record_placed_order(record_placed(order))
    await service.record_settled_payment(settled)
    with pytest.raises(AlreadyHandled):
        await service.record_settled_payment(settled)
    assert len(await all_invoices(billing_database)) == 1


async def test_a_half_that_comes_again_under_another_id_changes_nothing(billing_database: Database) -> None:
    service = invoice_service(billing_database)
    order = uuid4()
    await service.record_placed_order(record_placed(order))
    await service.record_settled_payment(record_settled(order))
    dearer = replace(PLACED, lines=[replace(PLACED.lines[0], unit_price_minor=1)])
    await service.record_placed_order(record_placed(order, dearer))
    await service.record_settled_payment(record_settled(order))
    (invoice,) = await all_invoices(billing_database)
    assert invoice.total_minor == 3_250
    lines = await rows(billing_database, "SELECT jsonb_array_length(lines) FROM gathered_orders")
    assert lines == [(len(PLACED.lines),)]


async def test_a_second_invoice_of_a_payment_violates_a_constraint_and_takes_no_number(
    billing_database: Database,
) -> None:
    service = invoice_service(billing_database)
    first, second = uuid4(), uuid4()
    settled = replace(SETTLED, payment_id=uuid4())
    await service.record_placed_order(record_placed(first))
    await service.record_settled_payment(record_settled(first, settled))
    await service.record_placed_order(record_placed(second))
    with pytest.raises(IntegrityError):
        await service.record_settled_payment(record_settled(second, settled))
    await issued(billing_database)
    year = (await all_invoices(billing_database))[0].issued_at.year
    assert await numbers(billing_database) == [f"INV-{year}-000001", f"INV-{year}-000002"]


async def test_a_free_order_is_invoiced(billing_database: Database) -> None:
    free = replace(PLACED, lines=[replace(PLACED.lines[0], unit_price_minor=0)])
    invoice = await issued(billing_database, free)
    assert (invoice.total_minor, [total.tax_minor for total in invoice.taxes]) == (0, [0])


async def test_a_payment_of_another_amount_issues_nothing(billing_database: Database) -> None:
    service = invoice_service(billing_database)
    order = uuid4()
    await service.record_placed_order(record_placed(order))
    with pytest.raises(PaidAmountDiffers):
        await service.record_settled_payment(record_settled(order, replace(SETTLED, paid_minor=3_249)))
    assert await all_invoices(billing_database) == []


async def test_numbers_have_no_gap_and_no_double_while_transactions_run_at_once_and_roll_back(
    billing_database: Database,
) -> None:
    orders = [uuid4() for _ in range(20)]
    refused = set(orders[::3])
    service = InvoiceService(
        billing_database, GatheredOrderTable(), InvoiceTable(), CreditNoteTable(), FlakyBus(refused)
    )
    await asyncio.gather(*(service.record_placed_order(record_placed(order)) for order in orders))
    ends = await asyncio.gather(
        *(service.record_settled_payment(record_settled(order)) for order in orders), return_exceptions=True
    )
    assert [order for order, end in zip(orders, ends, strict=True) if end is not None] == orders[::3]
    invoices = await all_invoices(billing_database)
    assert {invoice.order_id for invoice in invoices} == set(orders) - refused
    counted = sorted(int(invoice.number.rsplit("-", 1)[1]) for invoice in invoices)
    assert counted == list(range(1, len(orders) - len(refused) + 1))
    by_number = sorted(invoices, key=lambda invoice: invoice.number)
    assert [invoice.issued_at for invoice in by_number] == sorted(invoice.issued_at for invoice in invoices)


async def test_a_rolled_back_invoice_leaves_neither_event_nor_job(billing_database: Database) -> None:
    order = uuid4()
    service = InvoiceService(
        billing_database, GatheredOrderTable(), InvoiceTable(), CreditNoteTable(), FlakyBus({order})
    )
    await service.record_placed_order(record_placed(order))
    with pytest.raises(RuntimeError, match="planted"):
        await service.record_settled_payment(record_settled(order))
    assert await rows(billing_database, "SELECT 1 FROM outbox") == []
    assert await rows(billing_database, "SELECT 1 FROM job") == []
    assert await rows(billing_database, "SELECT settled_at FROM gathered_orders") == [(None,)]
