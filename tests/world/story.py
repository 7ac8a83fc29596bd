"""Orders as a customer places them, and where their story has come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from demo.clients import Clients
from demo.records import CallRecord, MailRecord, MoveRecord, PaymentRecord
from demo.suite import Suite
from demo.tokens import Tokens

from .waiting import eventually

CARD_THAT_PAYS = "pm_card_visa"
CARD_THAT_IS_DECLINED = "pm_card_chargeDeclined"


@dataclass(frozen=True)
class PlacedOrder:
    """An order and the customer whose it is."""

    id: str
    customer: str


def order_body(*, unit_price_minor: int = 1250, quantity: int = 2, card: str = CARD_THAT_PAYS) -> dict[str, Any]:
    """A valid body of `POST /orders`: one line, in euros."""
    return {
        "currency": "EUR",
        "customer_email": "reader@example.com",
        "locale": "en",
        "payment_method": card,
        "lines": [
            {"sku": "fence-post", "quantity": quantity, "unit_price_minor": unit_price_minor, "tax_rate_bp": 2000}
        ],
    }


class Story:
    """Places orders through the public API and follows them there, at the provider and in the mailbox."""

    def __init__(self, suite: Suite, clients: Clients) -> None:
        self._suite = suite
        self._tokens = Tokens(suite.secrets)
        self.clients = clients

    async def post(self, body: dict[str, Any], *, customer: str, key: str | None = None) -> httpx.Response:
        """One `POST /orders`, not repeated, whatever it answers."""
        headers = {
            "Authorization": f"Bearer {self._tokens.bearer(customer, 'orders:write')}",
            "Idempotency-Key": key or str(uuid4()),
        }
        async with httpx.AsyncClient(base_url=self._suite.order_url, timeout=30.0, trust_env=False) as http:
            return await http.post("/orders", json=body, headers=headers)

    async def cancel(self, order: PlacedOrder) -> dict[str, Any]:
        """Ask for the order to be cancelled, as its customer; what it is then."""
        token = self._tokens.bearer(order.customer, "orders:write")
        async with _to(self._suite.order_url, token) as http:
            answer = await http.post(f"/orders/{order.id}/cancel")
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    async def refund(self, payment: PaymentRecord, amount_minor: int) -> httpx.Response:
        """One `POST /payments/{id}/refunds` by staff, whatever it answers."""
        token = self._tokens.bearer("staff", "payments:refund")
        async with _to(self._suite.payment_url, token) as http:
            return await http.post(
                f"/payments/{payment.id}/refunds",
                json={"amount_minor": amount_minor},
                headers={"Idempotency-Key": str(uuid4())},
            )

    async def credit_notes(self, order: PlacedOrder) -> list[dict[str, Any]]:
        """The credit notes of the order, as its customer sees them, by number."""
        token = self._tokens.bearer(order.customer, "invoices:read")
        async with _to(self._suite.billing_url, token) as http:
            answer = await http.get("/credit-notes", params={"limit": 100})
        return sorted(answer.json()["items"], key=lambda note: str(note["number"]))

    async def place(self, body: dict[str, Any] | None = None) -> PlacedOrder:
        """A new customer's order."""
        customer = f"customer-{uuid4()}"
        answer = await self.clients.orders.place(customer, body or order_body(), str(uuid4()))
        return PlacedOrder(str(answer["id"]), customer)

    async def view(self, order: PlacedOrder) -> dict[str, Any]:
        """The order as its customer sees it."""
        return await self.clients.orders.order(order.customer, order.id)

    async def until(self, order: PlacedOrder, status: str, *, within: float = 60.0) -> dict[str, Any]:
        """Wait until the order is in this state."""

        async def looked() -> dict[str, Any] | None:
            view = await self.view(order)
            return view if view["status"] == status else None

        return await eventually(looked, what=f"order {order.id} is {status}", within=within)

    async def until_invoiced(self, order: PlacedOrder, *, within: float = 60.0) -> dict[str, Any]:
        """Wait until the order is paid and knows its invoice's number."""

        async def looked() -> dict[str, Any] | None:
            view = await self.view(order)
            return view if view["status"] == "paid" and view["invoice_number"] else None

        return await eventually(looked, what=f"order {order.id} is paid and invoiced", within=within)

    async def until_mailed(self, order: PlacedOrder, *, within: float = 60.0) -> dict[str, Any]:
        """Wait until the order is invoiced and billing says that the mail went out."""
        view = await self.until_invoiced(order, within=within)

        async def looked() -> bool:
            (invoice,) = await self.clients.billing.invoices_of(order.customer)
            return invoice.mailed_at is not None

        await eventually(looked, what=f"the invoice of order {order.id} is mailed", within=within)
        return view

    async def at_the_provider(self, order: PlacedOrder) -> tuple[list[CallRecord], list[MoveRecord]]:
        """The provider's own ledger: the calls that concern the order, and the money that moved."""
        return await self.clients.ledger.read(order_id=order.id)

    async def payments(self, order: PlacedOrder) -> list[PaymentRecord]:
        """The payments of the order; there should be one."""
        return [payment async for payment in self.clients.payments.payments() if payment.order_id == order.id]

    async def mails(self, view: dict[str, Any]) -> list[MailRecord]:
        """The mails in the mailbox that name the order's invoice."""
        number = view["invoice_number"]
        summaries = [summary async for summary in self.clients.mailbox.summaries() if number in summary["Subject"]]
        return [await self.clients.mailbox.mail(summary) for summary in summaries]


def _to(url: str, token: str) -> httpx.AsyncClient:
    """A client with the caller's token, which asks once."""
    return httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30.0, trust_env=False)
