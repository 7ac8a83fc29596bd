"""A suite in one process, for the player: the public APIs with faults on demand, and nothing behind them."""

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import jwt
from fastapi import FastAPI, Header, HTTPException, Request, Response
from jwt import PyJWK

Views = list[dict[str, Any]]


@dataclass
class FakeSuite:
    """What the fake holds, and how it misbehaves.

    Each look at the list of orders brings every order one step further: paid, then invoiced and mailed; or, where it
    is being cancelled, given back and credited.
    """

    secrets: Path
    first_tries_lost: tuple[int, ...] = ()  # statuses that first tries of new keys get, in turn, effect applied or not
    effect_before_loss: bool = True
    declined_customers: frozenset[str] = frozenset()
    steps: int = 2  # how many steps an order ever makes
    notes_are_mailed: bool = True
    page: int = 7
    orders: Views = field(default_factory=list)
    payments: Views = field(default_factory=list)
    calls: Views = field(default_factory=list)
    moves: Views = field(default_factory=list)
    invoices: Views = field(default_factory=list)
    credit_notes: Views = field(default_factory=list)
    mails: Views = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)
    refused_key: str | None = None
    at_once: int = 0
    most_at_once: int = 0

    def place(self, customer_id: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        if key not in self.answers:
            number = len(self.orders) + 1
            order = {
                "id": f"order-{number}",
                "status": "pending_payment",
                "customer_id": customer_id,
                "customer_email": body["customer_email"],
                "currency": body["currency"],
                "total_minor": sum(line["quantity"] * line["unit_price_minor"] for line in body["lines"]),
                "lines": body["lines"],
                "placed_at": now(),
                "invoice_number": None,
                "refunded_minor": 0,
                "credit_note_numbers": [],
                "timeline": [{"at": now(), "event": "order.placed", "detail": {}}],
            }
            self.orders.append(order)
            self.answers[key] = order
        return self.answers[key]

    def cancel(self, order: dict[str, Any]) -> dict[str, Any]:
        if order["status"] in ("pending_payment", "paid"):
            order["status"] = "cancelling"
        return order

    def step(self) -> None:
        for order in self.orders:
            if order["status"] == "pending_payment" and self.steps >= 1:
                self._settle(order)
            elif order["status"] == "paid" and order["invoice_number"] is None and self.steps >= 2:
                self._issue(order)
            elif order["status"] == "cancelling" and self.steps >= 3:
                self._give_back(order)

    def _settle(self, order: dict[str, Any]) -> None:
        declined = order["customer_id"] in self.declined_customers
        event = "payment.declined" if declined else "payment.settled"
        payment = {
            "id": f"payment-of-{order['id']}",
            "order_id": order["id"],
            "status": "declined" if declined else "settled",
            "currency": order["currency"],
            "amount_minor": order["total_minor"],
            "provider_reference": f"pi_{order['id']}" if order["total_minor"] else None,
        }
        self.payments.append(payment)
        order["status"] = "declined" if declined else "paid"
        order["timeline"].append({"at": now(), "event": event, "detail": {"payment_id": payment["id"]}})
        if order["total_minor"]:
            subject = {"payment_id": payment["id"], "order_id": order["id"]}
            self.calls.append({"seq": len(self.calls) + 1, "operation": "payment_intents.create", **subject})
            if not declined:
                self.moves.append(
                    {
                        "seq": len(self.moves) + 1,
                        "kind": "capture",
                        "at": datetime.now(UTC).timestamp(),
                        "intent": f"pi_{order['id']}",
                        "currency": order["currency"].lower(),
                        "amount": order["total_minor"],
                        **subject,
                    }
                )

    def _issue(self, order: dict[str, Any]) -> None:
        number = f"INV-2026-{len(self.invoices) + 1:06d}"
        order["invoice_number"] = number
        order["timeline"].append({"at": now(), "event": "invoice.issued", "detail": {"invoice_number": number}})
        self.invoices.append(
            {
                "id": f"invoice-of-{order['id']}",
                "number": number,
                "order_id": order["id"],
                "customer_id": order["customer_id"],
                "currency": order["currency"],
                "total_minor": order["total_minor"],
                "issued_at": now(),
                "mailed_at": now(),
            }
        )
        total = f"{order['total_minor'] // 100}.{order['total_minor'] % 100:02d}"
        self.mails.append(
            {
                "ID": f"mail-of-{order['id']}",
                "MessageID": f"invoice-of-{order['id']}@shop.example",
                "To": [{"Name": "", "Address": order["customer_email"]}],
                "Subject": f"Invoice {number}",
                "Created": now(),
                "Text": f"You paid {total} {order['currency']}.",
                "Attachments": [{"FileName": f"{number}.pdf", "ContentType": "application/pdf", "Size": 900}],
            }
        )

    def _give_back(self, order: dict[str, Any]) -> None:
        order["status"] = "cancelled"
        if order["invoice_number"] is not None:
            number = f"CN-2026-{len(self.credit_notes) + 1:06d}"
            order |= {"refunded_minor": order["total_minor"], "credit_note_numbers": [number]}
            self.credit_notes.append(
                {
                    "id": f"credit-note-of-{order['id']}",
                    "number": number,
                    "invoice_number": order["invoice_number"],
                    "order_id": order["id"],
                    "currency": order["currency"],
                    "total_minor": order["total_minor"],
                    "mailed_at": None,
                }
            )

    def subject(self, authorization: str, scope: str) -> tuple[str, frozenset[str]]:
        """Verifies the token as the services do and answers 401 and 403 as they do."""
        keys = {key["kid"]: key for key in json.loads((self.secrets / "jwks.json").read_text())["keys"]}
        token = authorization.removeprefix("Bearer ")
        try:
            key = PyJWK.from_dict(keys[jwt.get_unverified_header(token)["kid"]])
            claims = jwt.decode(
                token, key, algorithms=["RS256"], audience="fencepost", issuer="https://fencepost.local/"
            )
        except (jwt.PyJWTError, KeyError) as error:
            raise HTTPException(401, str(error)) from error
        scopes = frozenset(claims["scope"].split())
        if scope not in scopes:
            raise HTTPException(403, scope)
        return claims["sub"], scopes

    def page_of(self, views: Views, cursor: str | None) -> dict[str, Any]:
        """Newest first, in small pages; the cursor is how many are left."""
        left = len(views) if cursor is None else int(cursor)
        items = views[max(left - self.page, 0) : left][::-1]
        return {"items": items, "next_cursor": str(left - self.page) if left > self.page else None}


def now() -> str:
    return datetime.now(UTC).isoformat()


def fake_app(fake: FakeSuite) -> FastAPI:
    """Every API in one application: their paths do not clash, so it can answer on all the suite's ports."""
    app = FastAPI()
    losses = count()

    @app.post("/orders", status_code=201, response_model=None)
    async def place(
        request: Request, authorization: Annotated[str, Header()], idempotency_key: Annotated[str, Header()]
    ) -> dict[str, Any] | Response:
        customer_id, _ = fake.subject(authorization, "orders:write")
        if idempotency_key == fake.refused_key:
            return Response("no such currency", 422)
        fake.at_once += 1
        fake.most_at_once = max(fake.most_at_once, fake.at_once)
        try:
            body = await request.json()
        finally:
            fake.at_once -= 1
        fake.tries[idempotency_key] += 1
        if fake.first_tries_lost and fake.tries[idempotency_key] == 1:
            if fake.effect_before_loss:
                fake.place(customer_id, idempotency_key, body)
            status = fake.first_tries_lost[next(losses) % len(fake.first_tries_lost)]
            return Response("lost", status, {"Retry-After": "0"})
        return fake.place(customer_id, idempotency_key, body)

    @app.get("/orders")
    async def orders(authorization: Annotated[str, Header()], cursor: str | None = None) -> dict[str, Any]:
        fake.subject(authorization, "orders:read_all")
        if cursor is None:
            fake.step()
        return fake.page_of(fake.orders, cursor)

    @app.post("/orders/{order_id}/cancel", status_code=202, response_model=None)
    async def cancel(order_id: str, authorization: Annotated[str, Header()]) -> dict[str, Any] | Response:
        customer_id, _ = fake.subject(authorization, "orders:write")
        (order,) = (view for view in fake.orders if view["id"] == order_id and view["customer_id"] == customer_id)
        fake.tries[order_id] += 1
        if fake.first_tries_lost and fake.tries[order_id] == 1:
            if fake.effect_before_loss:
                fake.cancel(order)
            return Response("lost", fake.first_tries_lost[0])
        return fake.cancel(order)

    @app.get("/orders/{order_id}")
    async def order(order_id: str, authorization: Annotated[str, Header()]) -> dict[str, Any]:
        customer_id, _ = fake.subject(authorization, "orders:read")
        fake.step()
        for view in fake.orders:
            if view["id"] == order_id and view["customer_id"] == customer_id:
                return view
        raise HTTPException(404)

    @app.get("/payments")
    async def payments(authorization: Annotated[str, Header()], cursor: str | None = None) -> dict[str, Any]:
        fake.subject(authorization, "payments:read_all")
        return fake.page_of(fake.payments, cursor)

    _show_documents(app, fake)

    @app.get("/_double/ledger")
    async def ledger(
        limit: int, calls_after: int = 0, moves_after: int = 0, order_id: str | None = None
    ) -> dict[str, Any]:
        fake.step()
        page = {
            name: [row for row in rows if row["seq"] > after and order_id in (None, row["order_id"])][: min(limit, 5)]
            for name, rows, after in (("calls", fake.calls, calls_after), ("moves", fake.moves, moves_after))
        }
        calls_cursor = page["calls"][-1]["seq"] if page["calls"] else calls_after
        moves_cursor = page["moves"][-1]["seq"] if page["moves"] else moves_after
        return {**page, "calls_cursor": calls_cursor, "moves_cursor": moves_cursor}

    @app.get("/api/v1/messages")
    async def messages(start: int, limit: int) -> dict[str, Any]:
        newest_first = fake.mails[::-1]
        return {"messages": newest_first[start : start + min(limit, fake.page)]}

    @app.get("/api/v1/search")
    async def search(query: str) -> dict[str, Any]:
        return {"messages": [mail for mail in fake.mails if f'to:"{mail["To"][0]["Address"]}"' == query]}

    @app.get("/api/v1/message/{identifier}")
    async def message(identifier: str) -> dict[str, Any]:
        return next(mail for mail in fake.mails if mail["ID"] == identifier)

    return app


def _show_documents(app: FastAPI, fake: FakeSuite) -> None:
    @app.get("/invoices")
    async def invoices(authorization: Annotated[str, Header()], cursor: str | None = None) -> dict[str, Any]:
        subject, scopes = fake.subject(authorization, "invoices:read")
        seen = [view for view in fake.invoices if "invoices:read_all" in scopes or view["customer_id"] == subject]
        return fake.page_of(seen, cursor)

    @app.get("/credit-notes")
    async def credit_notes(authorization: Annotated[str, Header()], cursor: str | None = None) -> dict[str, Any]:
        fake.subject(authorization, "invoices:read_all")
        for note in fake.credit_notes:
            note["mailed_at"] = now() if fake.notes_are_mailed else None
        return fake.page_of(fake.credit_notes, cursor)

    @app.get("/invoices/{invoice_id}/pdf")
    async def pdf(invoice_id: str, authorization: Annotated[str, Header()]) -> Response:
        fake.subject(authorization, "invoices:read")
        return Response(f"%PDF-1.7 {invoice_id}".encode(), media_type="application/pdf")
