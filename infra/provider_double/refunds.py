"""Refunds: here the call itself moves money, and never more than was captured."""

import json
import secrets
from typing import Any

from provider_double import listing, parameters
from provider_double.adjustments import Adjustments
from provider_double.calls import Call, encode
from provider_double.errors import InvalidRequestError, ParameterError, ResourceMissingError
from provider_double.events import Events
from provider_double.ledger import Ledger
from provider_double.store import Store

_CREATE = frozenset({"payment_intent", "amount", "reason", "metadata"})
_REASONS = frozenset({"duplicate", "fraudulent", "requested_by_customer"})


class Refunds:
    """Each method runs inside the transaction of one call and raises a ProviderError for what it refuses."""

    def __init__(self, store: Store, adjustments: Adjustments, ledger: Ledger, events: Events) -> None:
        self._connection = store.connection
        self._adjustments = adjustments
        self._ledger = ledger
        self._events = events

    def create(self, call: Call) -> dict[str, Any]:
        """A refund of `amount` minor units, or of all that is left where no amount is given."""
        params = call.params
        parameters.only(params, _CREATE)
        parameters.required(params, "payment_intent")
        metadata = parameters.metadata(params)
        reason = parameters.text(params, "reason")
        if reason is not None and reason not in _REASONS:
            raise ParameterError(f"Invalid reason: {reason}", param="reason")
        asked = parameters.amount(params["amount"]) if "amount" in params else None
        intent = self._intent(call)
        left = intent["amount_received"] - self._ledger.refunded(intent["id"])
        charge = intent["latest_charge"]
        if left == 0:
            raise InvalidRequestError(
                f"Charge {charge} has already been refunded.", code="charge_already_refunded", charge=charge
            )
        amount = left if asked is None else asked
        if amount > left:
            raise InvalidRequestError(
                f"Refund amount ({amount}) is greater than unrefunded amount on charge ({left})", param="amount"
            )
        now = self._adjustments.now()
        identifier = f"re_{secrets.token_hex(12)}"
        call.refund = identifier
        refund: dict[str, Any] = {
            "id": identifier,
            "object": "refund",
            "amount": amount,
            "charge": charge,
            "created": int(now),
            "currency": intent["currency"],
            "metadata": metadata,
            "payment_intent": intent["id"],
            "reason": reason,
            "status": "succeeded",
        }
        self._connection.execute(
            "insert into refunds (id, created, intent, doc) values (?, ?, ?, ?)",
            (identifier, now, intent["id"], encode(refund)),
        )
        self._ledger.money_moved(call, "refund", intent, amount=amount, at=now, refund=identifier)
        self._events.record("refund.created", refund, call, now)
        return refund

    def retrieve(self, call: Call) -> dict[str, Any]:
        parameters.only(call.params, ())
        row = self._connection.execute("select doc from refunds where id = ?", (call.refund,)).fetchone()
        if row is None:
            raise ResourceMissingError(f"No such refund: '{call.refund}'", code="resource_missing", param="id")
        refund: dict[str, Any] = json.loads(row["doc"])
        return refund

    def list(self, call: Call) -> dict[str, Any]:
        parameters.only(call.params, listing.PARAMETERS | {"payment_intent"})
        return listing.page(
            self._connection,
            "refunds",
            "/v1/refunds",
            call.params,
            intent=parameters.text(call.params, "payment_intent"),
        )

    def _intent(self, call: Call) -> dict[str, Any]:
        row = self._connection.execute("select doc from intents where id = ?", (call.intent,)).fetchone()
        if row is None:
            raise ParameterError(
                f"No such payment_intent: '{call.intent}'", code="resource_missing", param="payment_intent"
            )
        intent: dict[str, Any] = json.loads(row["doc"])
        if intent["status"] != "succeeded":
            raise InvalidRequestError(
                f"This PaymentIntent ({intent['id']}) does not have a successful charge to refund.",
                param="payment_intent",
            )
        return intent
