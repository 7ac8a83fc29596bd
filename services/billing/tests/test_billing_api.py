"""The billing service over HTTP, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from billing_lab import HeldFence, MemoryMailer, issued, record_refund

from billing_service.bootstrap import build_api, credit_note_delivery, invoice_service
from billing_service.domain.invoices import RenderCreditNote
from billing_service.settings import BillingSettings
from service_platform.database import Database
from world.service_api import api_settings, bearer, client_of


def caller(subject: str, scope: str = "invoices:read") -> dict[str, str]:
    return bearer(subject, scope)


@pytest.fixture
def settings(billing_database: Database, tmp_path: Path) -> BillingSettings:
    common = api_settings("billing", billing_database.address, tmp_path)
    return BillingSettings(**common, smtp_host="none", mail_from="billing@fencepost.example")


@pytest.fixture
async def api(settings: BillingSettings) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(build_api(settings)) as client:
        yield client


async def test_a_customer_sees_the_credit_notes_of_their_own_refunds_and_staff_sees_all(
    api: httpx.AsyncClient, billing_database: Database, settings: BillingSettings
) -> None:
    invoice = await issued(billing_database)
    service = invoice_service(billing_database)
    for amount_minor in (1_000, 250):
        await service.record_refund(record_refund(invoice.order_id, amount_minor))
    first = (await api.get("/credit-notes", params={"limit": 1}, headers=caller("ann"))).json()
    cursor = {"limit": 1, "cursor": first["next_cursor"]}
    second = (await api.get("/credit-notes", params=cursor, headers=caller("ann"))).json()
    notes = first["items"] + second["items"]
    assert [note["total_minor"] for note in notes] == [250, 1_000]
    assert {note["invoice_number"] for note in notes} == {invoice.number}
    assert second["next_cursor"] is None

    address = f"/credit-notes/{notes[0]['id']}"
    assert (await api.get(address, headers=caller("ann"))).json() == notes[0]
    assert (await api.get("/credit-notes", headers=caller("bob"))).json()["items"] == []
    for path in (address, f"{address}/pdf"):
        assert (await api.get(path, headers=caller("bob"))).status_code == 404
        assert (await api.get(path, headers=caller("ann", "orders:read"))).status_code == 403
        assert (await api.get(path)).status_code == 401
    assert (await api.get(address, headers=caller("eve", "invoices:read invoices:read_all"))).status_code == 200

    unready = await api.get(f"{address}/pdf", headers=caller("ann"))
    assert (unready.status_code, unready.json()["type"].rsplit("/", 1)[-1]) == (404, "document-not-ready")
    delivery = credit_note_delivery(billing_database, MemoryMailer(), settings)
    await delivery.render(RenderCreditNote(fence=HeldFence(), credit_note_id=UUID(notes[0]["id"])))
    pdf = await api.get(f"{address}/pdf", headers=caller("ann"))
    assert (pdf.headers["Content-Type"], pdf.content[:5]) == ("application/pdf", b"%PDF-")
    assert f'filename="{notes[0]["number"]}.pdf"' in pdf.headers["Content-Disposition"]
