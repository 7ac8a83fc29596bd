"""The public APIs that the demo talks to, one client each; every call may raise `Refused` and `Unanswered`."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from demo import views
from demo.patience import PatientClient
from demo.records import (
    CallRecord,
    CreditNoteRecord,
    InvoiceRecord,
    MailRecord,
    MoveRecord,
    OrderRecord,
    PaymentRecord,
)
from demo.suite import Suite
from demo.tokens import Tokens

_PAGE = 100
_LEDGER_PAGE = 2_000
_MAIL_PAGE = 500


class OrderApi:
    def __init__(self, http: PatientClient, tokens: Tokens) -> None:
        self._http = http
        self._tokens = tokens

    async def place(self, customer_id: str, body: Mapping[str, Any], idempotency_key: str) -> dict[str, Any]:
        """Places an order in the customer's name; the same key and body again give the same order's view."""
        token = self._tokens.bearer(customer_id, "orders:write")
        response = await self._http.post("/orders", body, token=token, idempotency_key=idempotency_key)
        return dict(response.json())

    async def cancel(self, customer_id: str, order_id: str) -> dict[str, Any]:
        """Asks for the customer's own order to be cancelled; to ask again changes nothing. The order as it is then."""
        token = self._tokens.bearer(customer_id, "orders:write")
        return dict((await self._http.request(f"/orders/{order_id}/cancel", token=token)).json())

    async def order(self, customer_id: str, order_id: str) -> dict[str, Any]:
        """The customer's own order, with its timeline."""
        token = self._tokens.bearer(customer_id, "orders:read")
        return dict((await self._http.get(f"/orders/{order_id}", token=token)).json())

    async def orders(self) -> AsyncIterator[OrderRecord]:
        """Every order there is, in the API's order."""
        async for view in _walk(self._http, "/orders", self._tokens):
            yield views.order(view)


class PaymentApi:
    def __init__(self, http: PatientClient, tokens: Tokens) -> None:
        self._http = http
        self._tokens = tokens

    async def payments(self) -> AsyncIterator[PaymentRecord]:
        """Every payment there is."""
        async for view in _walk(self._http, "/payments", self._tokens):
            yield views.payment(view)


class BillingApi:
    def __init__(self, http: PatientClient, tokens: Tokens) -> None:
        self._http = http
        self._tokens = tokens

    async def invoices(self) -> AsyncIterator[InvoiceRecord]:
        """Every invoice there is."""
        async for view in _walk(self._http, "/invoices", self._tokens):
            yield views.invoice(view)

    async def credit_notes(self) -> AsyncIterator[CreditNoteRecord]:
        """Every credit note there is."""
        async for view in _walk(self._http, "/credit-notes", self._tokens):
            yield views.credit_note(view)

    async def invoices_of(self, customer_id: str) -> list[InvoiceRecord]:
        """The newest invoices that the customer sees as their own."""
        token = self._tokens.bearer(customer_id, "invoices:read")
        response = await self._http.get("/invoices", {"limit": _PAGE}, token=token)
        return [views.invoice(view) for view in response.json()["items"]]

    async def pdf(self, customer_id: str, invoice_id: str) -> bytes:
        """The invoice's PDF; `Refused` with 404 while there is none."""
        token = self._tokens.bearer(customer_id, "invoices:read")
        return (await self._http.get(f"/invoices/{invoice_id}/pdf", token=token)).content


class ProviderLedger:
    """What the provider double saw: its ledger is the judge of money."""

    def __init__(self, http: PatientClient) -> None:
        self._http = http

    async def read(self, *, order_id: str | None = None) -> tuple[list[CallRecord], list[MoveRecord]]:
        """All calls and all movements of money, oldest first, or those for one order."""
        calls: list[CallRecord] = []
        moves: list[MoveRecord] = []
        wanted: dict[str, str | int] = {"limit": _LEDGER_PAGE}
        if order_id is not None:
            wanted["order_id"] = order_id
        while True:
            page = (await self._http.get("/_double/ledger", wanted)).json()
            if not page["calls"] and not page["moves"]:
                return calls, moves
            calls += map(views.call, page["calls"])
            moves += map(views.move, page["moves"])
            wanted |= {"calls_after": page["calls_cursor"], "moves_after": page["moves_cursor"]}


class Mailbox:
    """The mailbox by the part of Mailpit's API that both the mail catcher and Mailpit itself speak."""

    def __init__(self, http: PatientClient) -> None:
        self._http = http

    async def summaries(self) -> AsyncIterator[dict[str, Any]]:
        """Every mail's list entry, newest first, each once: mails that arrive meanwhile only push others further on."""
        seen: set[str] = set()
        start = 0
        while True:
            page = (await self._http.get("/api/v1/messages", {"start": start, "limit": _MAIL_PAGE})).json()["messages"]
            if not page:
                return
            for summary in page:
                if summary["ID"] not in seen:
                    seen.add(summary["ID"])
                    yield summary
            start += len(page)

    async def mails_to(self, address: str) -> list[MailRecord]:
        """The newest whole mails to this address."""
        found = (await self._http.get("/api/v1/search", {"query": f'to:"{address}"'})).json()["messages"]
        return [await self.mail(summary) for summary in found]

    async def mail(self, summary: Mapping[str, Any]) -> MailRecord:
        """The whole mail of a list entry."""
        message = (await self._http.get(f"/api/v1/message/{summary['ID']}")).json()
        return views.mail(summary, message)


class Clients:
    """All of them together; an asynchronous context that closes their connections.

    Raises `NoSigningKey` when the suite was never up. `patience` is in seconds.
    """

    def __init__(self, suite: Suite, *, patience: float, connections: int = 16) -> None:
        tokens = Tokens(suite.secrets)
        self._open = AsyncExitStack()
        self._https = [
            PatientClient(url, patience=patience, connections=connections)
            for url in (suite.order_url, suite.payment_url, suite.billing_url, suite.provider_url, suite.mail_url)
        ]
        order, payment, billing, provider, mail = self._https
        self.orders = OrderApi(order, tokens)
        self.payments = PaymentApi(payment, tokens)
        self.billing = BillingApi(billing, tokens)
        self.ledger = ProviderLedger(provider)
        self.mailbox = Mailbox(mail)

    async def __aenter__(self) -> Self:
        for http in self._https:
            await self._open.enter_async_context(http)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()


async def _walk(http: PatientClient, path: str, tokens: Tokens) -> AsyncIterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        page: dict[str, str | int] = {"limit": _PAGE} if cursor is None else {"limit": _PAGE, "cursor": cursor}
        answer = (await http.get(path, page, token=tokens.staff())).json()
        for item in answer["items"]:
            yield item
        cursor = answer["next_cursor"]
        if cursor is None:
            return
