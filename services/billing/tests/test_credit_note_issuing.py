"""Issuing credit notes, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import permutations
from uuid import UUID, uuid4

import orjson
import pytest
from billing_lab import (
    REFUNDED_AT,
    FlakyBus,
    all_credit_notes,
    all_invoices,
    issued,
    record_placed,
    record_refund,
    record_settled,
    rows,
)
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from billing_service.bootstrap import invoice_service
from billing_service.domain.invoices import (
    CreditNoteNotFound,
    CreditNoteQueries,
    CreditNoteTable,
    GatheredOrderTable,
    InvoiceService,
    InvoiceTable,
    RefundExceedsInvoice,
)
from service_platform.database import Database
from service_platform.inbox import AlreadyHandled

REPEATED = UUID(int=9)


def flaky(database: Database, refused: set[UUID]) -> InvoiceService:
    return InvoiceService(database, GatheredOrderTable(), InvoiceTable(), CreditNoteTable(), FlakyBus(refused))


async def test_a_refund_is_credited_against_its_invoice_at_the_rates_of_its_lines(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    command = record_refund(invoice.order_id, 1_300)
    await invoice_service(billing_database).record_refund(command)
    (note,) = await all_credit_notes(billing_database)
    assert (note.invoice_id, note.invoice_number) == (invoice.id, invoice.number)
    assert (note.refund_id, note.refunded_at, note.total_minor) == (command.refund.refund_id, REFUNDED_AT, 1_300)
    assert note.number == f"CN-{note.issued_at.year}-000001"
    assert [(part.tax_rate_bp, part.gross_minor, part.tax_minor) for part in note.taxes] == [
        (800, 300, 22),  # 750 of 3250 at 8 %, of which 56 are tax
        (1_000, 1_000, 91),  # 2500 of 3250 at 10 %, of which 227 are tax
    ]
    queries = CreditNoteQueries(billing_database)
    assert await queries.get(note.id, customer_id="ann") == note
    with pytest.raises(CreditNoteNotFound):
        await queries.get(note.id, customer_id="bob")
    assert await queries.newest(customer_id="bob", before=None, limit=10) == []


async def test_a_credit_note_its_event_and_its_job_commit_together(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    await invoice_service(billing_database).record_refund(record_refund(invoice.order_id, 1_300))
    (note,) = await all_credit_notes(billing_database)
    *_, (event,) = await rows(billing_database, "SELECT payload FROM outbox WHERE channel = 'kafka' ORDER BY position")
    told = orjson.loads(event)  # type: ignore[arg-type]
    assert (told["credit_note_number"], told["credit_note_id"]) == (note.number, str(note.id))
    assert (told["total_minor"], told["refund_id"]) == (1_300, str(note.refund_id))
    assert (f"deliver-credit-note:{note.id}",) in await rows(billing_database, "SELECT job_key FROM job")

    with pytest.raises(RuntimeError, match="planted"):
        await flaky(billing_database, {invoice.order_id}).record_refund(record_refund(invoice.order_id, 1_300))
    assert len(await all_credit_notes(billing_database)) == 1
    assert await rows(billing_database, "SELECT count(*) FROM gathered_refunds") == [(1,)]
    assert await rows(billing_database, "SELECT count(*) FROM job") == [(2,)]


Part = Callable[[InvoiceService, UUID], Awaitable[None]]
PARTS: dict[str, Part] = {
    "placed": lambda service, order_id: service.record_placed_order(record_placed(order_id)),
    "settled": lambda service, order_id: service.record_settled_payment(record_settled(order_id)),
    "first": lambda service, order_id: service.record_refund(record_refund(order_id, 1_000)),
    "second": lambda service, order_id: service.record_refund(record_refund(order_id, 2_250)),
}


async def _has_all(database: Database, order_id: UUID) -> None:
    """One invoice, and a credit note a refund, which together give all of it back, tax included."""
    (invoice,) = [found for found in await all_invoices(database) if found.order_id == order_id]
    notes = [note for note in await all_credit_notes(database) if note.order_id == order_id]
    assert sorted(note.total_minor for note in notes) == [1_000, 2_250]
    assert {note.invoice_number for note in notes} == {invoice.number}
    for total in invoice.taxes:
        back = [part for note in notes for part in note.taxes if part.tax_rate_bp == total.tax_rate_bp]
        assert sum(part.gross_minor for part in back) == total.gross_minor
        assert sum(part.tax_minor for part in back) == total.tax_minor


async def test_halves_and_refunds_in_every_order_make_one_invoice_and_a_credit_note_each(
    billing_database: Database,
) -> None:
    service = invoice_service(billing_database)
    for order in permutations(PARTS):
        order_id = uuid4()
        for part in order:
            await PARTS[part](service, order_id)
        await _has_all(billing_database, order_id)


async def test_halves_and_refunds_at_the_same_instant_make_one_invoice_and_a_credit_note_each(
    billing_database: Database,
) -> None:
    service = invoice_service(billing_database)
    orders = [uuid4() for _ in range(6)]
    await asyncio.gather(*(part(service, order_id) for order_id in orders for part in PARTS.values()))
    for order_id in orders:
        await _has_all(billing_database, order_id)


async def test_no_credit_note_is_issued_before_its_invoice(billing_database: Database) -> None:
    service = invoice_service(billing_database)
    order_id = uuid4()
    await service.record_refund(record_refund(order_id, 1_000))
    await service.record_settled_payment(record_settled(order_id))
    assert await all_credit_notes(billing_database) == []
    assert await rows(billing_database, "SELECT 1 FROM outbox") == []
    await service.record_placed_order(record_placed(order_id))
    told = "SELECT headers ->> 'event-name' FROM outbox WHERE channel = 'kafka' ORDER BY position"
    assert await rows(billing_database, told) == [("invoice.issued",), ("credit_note.issued",)]


async def test_a_refund_that_is_told_again_has_one_credit_note(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    service = invoice_service(billing_database)
    command = record_refund(invoice.order_id, 1_000)
    await service.record_refund(command)
    with pytest.raises(AlreadyHandled):
        await service.record_refund(command)
    await service.record_refund(record_refund(invoice.order_id, 1_000, refund_id=command.refund.refund_id))
    at_once = [service.record_refund(record_refund(invoice.order_id, 1, refund_id=REPEATED)) for _ in range(2)]
    await asyncio.gather(*at_once)
    assert sorted(note.total_minor for note in await all_credit_notes(billing_database)) == [1, 1_000]


async def test_refunds_at_once_never_credit_more_than_the_invoice(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    service = invoice_service(billing_database)
    ends = await asyncio.gather(
        *(service.record_refund(record_refund(invoice.order_id, 1_300)) for _ in range(5)), return_exceptions=True
    )
    assert sorted(type(end).__name__ for end in ends) == ["NoneType"] * 2 + ["RefundExceedsInvoice"] * 3
    assert await rows(billing_database, "SELECT count(*) FROM gathered_refunds") == [(2,)]


async def test_a_refund_in_another_currency_is_refused_and_leaves_nothing(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    with pytest.raises(RefundExceedsInvoice):
        await invoice_service(billing_database).record_refund(record_refund(invoice.order_id, 1, currency="EUR"))
    assert await rows(billing_database, "SELECT 1 FROM gathered_refunds") == []


async def test_a_second_credit_note_of_a_refund_violates_a_constraint(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    await invoice_service(billing_database).record_refund(record_refund(invoice.order_id, 1_000))
    copy = text(
        "INSERT INTO credit_notes (id, series, year, sequence, invoice_id, refund_id, customer_id, total_minor, taxes,"
        " issued_at) SELECT gen_random_uuid(), series, year, sequence + 1, invoice_id, refund_id, customer_id,"
        " total_minor, taxes, issued_at FROM credit_notes"
    )
    with pytest.raises(IntegrityError, match="credit_notes_refund_id_key"):
        async with billing_database.transaction() as tx:
            await tx.session.execute(copy)


async def test_credit_notes_count_in_their_own_series_without_a_gap_while_transactions_roll_back(
    billing_database: Database,
) -> None:
    invoices = [await issued(billing_database) for _ in range(12)]
    refused = {invoice.order_id for invoice in invoices[::3]}
    service = flaky(billing_database, refused)
    refunds = [service.record_refund(record_refund(invoice.order_id, 1_000)) for invoice in invoices]
    ends = await asyncio.gather(*refunds, issued(billing_database), return_exceptions=True)
    assert sum(isinstance(end, RuntimeError) for end in ends) == len(refused)
    notes = await all_credit_notes(billing_database)
    assert {note.order_id for note in notes} == {invoice.order_id for invoice in invoices} - refused
    assert sorted(int(note.number.rsplit("-", 1)[1]) for note in notes) == list(range(1, len(notes) + 1))
    numbers = sorted(int(invoice.number.rsplit("-", 1)[1]) for invoice in await all_invoices(billing_database))
    assert numbers == list(range(1, 14))
