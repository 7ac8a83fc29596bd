"""Follows one order from POST to mail, hop by hop, through public APIs only."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from time import monotonic
from typing import Any

from demo.clients import Clients
from demo.patience import Refused
from demo.run import PAYMENT_METHOD
from demo.suite import Suite

# Between two looks at one hop: often enough to tell hops apart, rarely enough not to slow them down.
_LOOK_EVERY = 0.05


class HopMissing(Exception):
    """The order got stuck; the text says before which hop, and where to read why."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the story: when it happened by the record that shows it, when it was seen here, and where to look.

    Both times are seconds since POST was sent.
    """

    name: str
    happened: float
    seen: float
    detail: str
    url: str


@dataclass(frozen=True, slots=True)
class Journey:
    order_id: str
    customer_id: str
    hops: tuple[Hop, ...]


@dataclass(slots=True)
class _Traveller:
    """What is known of the order so far; every probe may use what earlier hops have shown."""

    clients: Clients
    suite: Suite
    customer_id: str
    posted_at: datetime
    order: dict[str, Any] = field(default_factory=dict)
    invoice_id: str = ""


@dataclass(frozen=True, slots=True)
class _Sighting:
    at: datetime
    detail: str
    url: str


_Probe = Callable[[_Traveller], Awaitable[_Sighting | None]]


async def travel(suite: Suite, *, deadline: float = 30.0) -> Journey:
    """Places one order in the name of a new customer and follows it to its mail.

    Raises:
        HopMissing: a hop did not show within `deadline` seconds of the POST.
        NoSigningKey: the suite was never up.
        Refused, Unanswered: an API refused, or did not answer.
    """
    customer_id = f"journey-{token_hex(4)}"
    async with Clients(suite, patience=deadline / 2) as clients:
        traveller = _Traveller(clients, suite, customer_id, datetime.now(UTC))
        ends_at = monotonic() + deadline
        traveller.order = await clients.orders.place(customer_id, _order_of(customer_id), f"journey-{token_hex(16)}")
        hops: list[Hop] = []
        for name, probe, processes in _HOPS:
            sighting = await _look_until(probe, traveller, ends_at)
            if sighting is None:
                raise HopMissing(_explain(traveller, hops, name, processes))
            hops.append(
                Hop(
                    name,
                    (sighting.at - traveller.posted_at).total_seconds(),
                    (datetime.now(UTC) - traveller.posted_at).total_seconds(),
                    sighting.detail,
                    sighting.url,
                )
            )
        return Journey(traveller.order["id"], customer_id, tuple(hops))


async def _look_until(probe: _Probe, traveller: _Traveller, ends_at: float) -> _Sighting | None:
    while True:
        sighting = await probe(traveller)
        if sighting is not None or monotonic() > ends_at:
            return sighting
        await asyncio.sleep(_LOOK_EVERY)


def _explain(traveller: _Traveller, hops: list[Hop], missing: str, processes: tuple[str, ...]) -> str:
    last = f'after "{hops[-1].name}"' if hops else "at its start"
    return (
        f"order {traveller.order['id']} (customer {traveller.customer_id}) stopped {last}: "
        f'"{missing}" did not show in time. Read, in this order: {traveller.suite.where_to_look(*processes)}'
    )


def _order_of(customer_id: str) -> dict[str, Any]:
    return {
        "currency": "EUR",
        "customer_email": f"{customer_id}@example.com",
        "locale": "en",
        "payment_method": PAYMENT_METHOD,
        "lines": [
            {"sku": "TEA-ASSAM-250", "quantity": 2, "unit_price_minor": 1490, "tax_rate_bp": 700},
            {"sku": "CUP-STONEWARE", "quantity": 1, "unit_price_minor": 1850, "tax_rate_bp": 1900},
        ],
    }


async def _placed(traveller: _Traveller) -> _Sighting | None:
    order = traveller.order
    total = f"{order['total_minor'] / 100:.2f} {order['currency']}"
    return _Sighting(datetime.fromisoformat(order["placed_at"]), f"order {order['id']}, {total}", _order_url(traveller))


async def _captured(traveller: _Traveller) -> _Sighting | None:
    _calls, moves = await traveller.clients.ledger.read(order_id=traveller.order["id"])
    for move in moves:
        if move.kind == "capture":
            url = f"{traveller.suite.provider_url}/_double/ledger?order_id={traveller.order['id']}"
            return _Sighting(move.at, f"{move.intent}, {move.amount_minor} {move.currency} captured", url)
    return None


async def _on_timeline(traveller: _Traveller, event: str) -> _Sighting | None:
    traveller.order = await traveller.clients.orders.order(traveller.customer_id, traveller.order["id"])
    for entry in traveller.order["timeline"]:
        if entry["event"] == event:
            detail = ", ".join(f"{name} {value}" for name, value in entry["detail"].items())
            return _Sighting(datetime.fromisoformat(entry["at"]), detail, _order_url(traveller))
    return None


async def _settled(traveller: _Traveller) -> _Sighting | None:
    return await _on_timeline(traveller, "payment.settled")


async def _invoiced(traveller: _Traveller) -> _Sighting | None:
    sighting = await _on_timeline(traveller, "invoice.issued")
    if sighting is None:
        return None
    for invoice in await traveller.clients.billing.invoices_of(traveller.customer_id):
        if invoice.order_id == traveller.order["id"]:
            traveller.invoice_id = invoice.id
            url = f"{traveller.suite.billing_url}/invoices/{invoice.id}"
            return _Sighting(invoice.issued_at, f"invoice {invoice.number}", url)
    return None


async def _rendered(traveller: _Traveller) -> _Sighting | None:
    try:
        pdf = await traveller.clients.billing.pdf(traveller.customer_id, traveller.invoice_id)
    except Refused as refused:
        if refused.status == 404:  # not yet
            return None
        raise
    url = f"{traveller.suite.billing_url}/invoices/{traveller.invoice_id}/pdf"
    return _Sighting(datetime.now(UTC), f"{len(pdf)} bytes of PDF", url) if pdf.startswith(b"%PDF-") else None


async def _mailed(traveller: _Traveller) -> _Sighting | None:
    for mail in await traveller.clients.mailbox.mails_to(f"{traveller.customer_id}@example.com"):
        files = ", ".join(part.file_name for part in mail.attachments)
        url = f"{traveller.suite.mail_url}/view/{mail.id}"
        return _Sighting(mail.received_at, f'"{mail.subject}" with {files}', url)
    return None


def _order_url(traveller: _Traveller) -> str:
    return f"{traveller.suite.order_url}/orders/{traveller.order['id']}"


# What the suite shows, in the order in which it happens, and the processes between one hop and the one before it.
_HOPS: tuple[tuple[str, _Probe, tuple[str, ...]], ...] = (
    ("order placed", _placed, ("order-api",)),
    ("payment captured", _captured, ("payment-worker", "payment-relay", "payment-consumer", "order-relay", "provider")),
    ("order paid", _settled, ("order-consumer", "payment-relay", "payment-worker")),
    ("invoice issued", _invoiced, ("billing-consumer", "billing-relay", "order-consumer")),
    ("PDF rendered", _rendered, ("billing-worker", "billing-relay")),
    ("mail received", _mailed, ("billing-worker", "billing-relay", "mail")),
)
