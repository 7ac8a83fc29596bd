"""Payment intents: the states a payment goes through, and the one place where a capture happens."""

import json
import secrets
from typing import Any

from provider_double import listing, parameters, search
from provider_double.adjustments import Adjustments
from provider_double.calls import Call, encode
from provider_double.cards import PAYMENT_METHODS, Decline
from provider_double.errors import CardDeclinedError, InvalidRequestError, ParameterError, ResourceMissingError
from provider_double.events import Events
from provider_double.ledger import Ledger
from provider_double.store import Store

_CREATE = frozenset(
    {
        "amount",
        "currency",
        "payment_method",
        "allowed_payment_method_types",
        "automatic_payment_methods",
        "confirm",
        "metadata",
        "description",
        "receipt_email",
        "capture_method",
        "confirmation_method",
        "error_on_requires_action",
        "off_session",
        "return_url",
    }
)
_CONFIRM = frozenset({"payment_method", "return_url", "error_on_requires_action", "off_session", "receipt_email"})
_CANCEL = frozenset({"cancellation_reason"})
_CANCELLATION_REASONS = frozenset({"duplicate", "fraudulent", "requested_by_customer", "abandoned"})

_CONFIRMABLE = frozenset({"requires_payment_method", "requires_confirmation"})
_CANCELABLE = _CONFIRMABLE


class PaymentIntents:
    """Each method runs inside the transaction of one call and raises a ProviderError for what it refuses.

    It validates all before it writes, because a refusal's transaction is committed: a decline changes the intent.
    """

    def __init__(self, store: Store, adjustments: Adjustments, ledger: Ledger, events: Events) -> None:
        self._connection = store.connection
        self._adjustments = adjustments
        self._ledger = ledger
        self._events = events

    def create(self, call: Call) -> dict[str, Any]:
        params = call.params
        _refuse_method_types(params)
        parameters.only(params, _CREATE)
        amount = parameters.amount(parameters.required(params, "amount"))
        currency = parameters.currency(parameters.required(params, "currency"))
        method = _payment_method(params)
        metadata = parameters.metadata(params)
        confirm = parameters.boolean(params, "confirm")
        capture_method = parameters.text(params, "capture_method") or "automatic"
        if capture_method not in {"automatic", "automatic_async"}:
            raise ParameterError("This double captures at once only.", param="capture_method")
        automatic = _automatic_methods(params)
        if confirm and method is None:
            raise ParameterError(
                "You cannot confirm this PaymentIntent because it's missing a payment method.",
                code="parameter_missing",
                param="payment_method",
            )
        if confirm:
            _check_return_url(automatic, params)
        now = self._adjustments.now()
        identifier = f"pi_{secrets.token_hex(12)}"
        call.intent = identifier
        intent: dict[str, Any] = {
            "id": identifier,
            "object": "payment_intent",
            "amount": amount,
            "amount_capturable": 0,
            "amount_received": 0,
            "automatic_payment_methods": automatic,
            "canceled_at": None,
            "cancellation_reason": None,
            "capture_method": capture_method,
            "client_secret": f"{identifier}_secret_{secrets.token_hex(12)}",
            "confirmation_method": parameters.text(params, "confirmation_method") or "automatic",
            "created": int(now),
            "currency": currency,
            "customer": None,
            "description": parameters.text(params, "description"),
            "last_payment_error": None,
            "latest_charge": None,
            "livemode": False,
            "metadata": metadata,
            "next_action": None,
            "payment_method": method,
            "payment_method_types": ["card"],
            "receipt_email": parameters.text(params, "receipt_email"),
            "status": "requires_payment_method" if method is None else "requires_confirmation",
        }
        doc = encode(intent)
        self._connection.execute("insert into intents (id, created, doc) values (?, ?, ?)", (identifier, now, doc))
        self._note_version(identifier, doc, now)
        self._events.record("payment_intent.created", intent, call, now)
        return self._charge(call, intent, method, now) if confirm and method is not None else intent

    def retrieve(self, call: Call) -> dict[str, Any]:
        parameters.only(call.params, {"client_secret"})
        return self.load(call.intent)

    def list(self, call: Call) -> dict[str, Any]:
        parameters.only(call.params, listing.PARAMETERS)
        return listing.page(self._connection, "intents", "/v1/payment_intents", call.params)

    def search(self, call: Call) -> dict[str, Any]:
        parameters.only(call.params, search.PARAMETERS)
        as_of = self._adjustments.now() - self._adjustments.search_delay
        return search.search(self._connection, call.params, as_of)

    def confirm(self, call: Call) -> dict[str, Any]:
        parameters.only(call.params, _CONFIRM)
        intent = self.load(call.intent)
        if intent["status"] == "succeeded":
            raise _unexpected_state(
                "You cannot confirm this PaymentIntent because it has already succeeded after being previously"
                " confirmed.",
                intent,
            )
        if intent["status"] not in _CONFIRMABLE:
            raise _unexpected_state(
                f"You cannot confirm this PaymentIntent because it has a status of {intent['status']}. Only a"
                " PaymentIntent with one of the following statuses may be confirmed: requires_confirmation,"
                " requires_action.",
                intent,
            )
        method = _payment_method(call.params) or intent["payment_method"]
        if method is None:
            raise _unexpected_state(
                "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update"
                " the PaymentIntent with a payment method and then confirm it again, or confirm it again directly"
                " with a payment method.",
                intent,
            )
        _check_return_url(intent["automatic_payment_methods"], call.params)
        return self._charge(call, intent, method, self._adjustments.now())

    def cancel(self, call: Call) -> dict[str, Any]:
        parameters.only(call.params, _CANCEL)
        reason = parameters.text(call.params, "cancellation_reason")
        if reason is not None and reason not in _CANCELLATION_REASONS:
            raise ParameterError(f"Invalid cancellation_reason: {reason}", param="cancellation_reason")
        intent = self.load(call.intent)
        if intent["status"] not in _CANCELABLE:
            raise _unexpected_state(
                f"You cannot cancel this PaymentIntent because it has a status of {intent['status']}. Only a"
                " PaymentIntent with one of the following statuses may be canceled: requires_payment_method,"
                " requires_capture, requires_confirmation, requires_action, processing.",
                intent,
            )
        now = self._adjustments.now()
        intent |= {"status": "canceled", "canceled_at": int(now), "cancellation_reason": reason}
        self._save(intent, now)
        self._events.record("payment_intent.canceled", intent, call, now)
        return intent

    def load(self, identifier: str | None) -> dict[str, Any]:
        row = self._connection.execute("select doc from intents where id = ?", (identifier,)).fetchone()
        if row is None:
            raise ResourceMissingError(
                f"No such payment_intent: '{identifier}'", code="resource_missing", param="intent"
            )
        intent: dict[str, Any] = json.loads(row["doc"])
        return intent

    def _charge(self, call: Call, intent: dict[str, Any], method: str, now: float) -> dict[str, Any]:
        charge = f"ch_{secrets.token_hex(12)}"
        decline = PAYMENT_METHODS[method]
        if decline is not None:
            # Back to requires_payment_method: a declined intent can be confirmed again with another method.
            intent |= {
                "status": "requires_payment_method",
                "payment_method": None,
                "latest_charge": charge,
                "last_payment_error": _payment_error(decline, charge, method),
            }
            self._save(intent, now)
            self._events.record("payment_intent.payment_failed", intent, call, now)
            raise CardDeclinedError(
                decline.message,
                code=decline.code,
                decline_code=decline.decline_code,
                charge=charge,
                payment_intent=intent,
            )
        intent |= {
            "status": "succeeded",
            "payment_method": method,
            "amount_received": intent["amount"],
            "latest_charge": charge,
            "last_payment_error": None,
        }
        self._save(intent, now)
        self._ledger.money_moved(call, "capture", intent, amount=intent["amount"], at=now)
        self._events.record("payment_intent.succeeded", intent, call, now)
        return intent

    def _save(self, intent: dict[str, Any], now: float) -> None:
        doc = encode(intent)
        self._connection.execute("update intents set doc = ? where id = ?", (doc, intent["id"]))
        self._note_version(intent["id"], doc, now)

    def _note_version(self, intent: str, doc: str, now: float) -> None:
        self._connection.execute("insert into intent_versions (intent, at, doc) values (?, ?, ?)", (intent, now, doc))


def _payment_method(params: dict[str, Any]) -> str | None:
    method = parameters.text(params, "payment_method")
    if method is not None and method not in PAYMENT_METHODS:
        raise ParameterError(f"No such PaymentMethod: '{method}'", code="resource_missing", param="payment_method")
    return method


def _refuse_method_types(params: dict[str, Any]) -> None:
    if "payment_method_types" in params:
        raise ParameterError(
            "`payment_method_types` is no longer supported; use `allowed_payment_method_types`.",
            code="payment_method_types_no_longer_supported",
            param="payment_method_types",
        )


def _automatic_methods(params: dict[str, Any]) -> dict[str, Any] | None:
    """As the real API: unless the types are narrowed, the dashboard's methods apply, some of which redirect."""
    allowed = params.get("allowed_payment_method_types")
    given = params.get("automatic_payment_methods")
    if allowed is not None:
        if given is not None:
            raise ParameterError(
                "You may only specify one of these parameters: allowed_payment_method_types,"
                " automatic_payment_methods.",
                param="allowed_payment_method_types",
            )
        if not isinstance(allowed, dict) or "card" not in allowed.values():
            raise ParameterError("This double takes cards only.", param="allowed_payment_method_types")
        return None
    if given is None:
        return {"enabled": True, "allow_redirects": "always"}
    if not isinstance(given, dict) or given.get("enabled") != "true":
        raise ParameterError("Invalid automatic_payment_methods.", param="automatic_payment_methods")
    return {"enabled": True, "allow_redirects": parameters.text(given, "allow_redirects") or "always"}


def _check_return_url(automatic: dict[str, Any] | None, params: dict[str, Any]) -> None:
    if automatic is not None and automatic["allow_redirects"] == "always" and not parameters.text(params, "return_url"):
        raise ParameterError(
            "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of"
            " these payment methods might redirect your customer off of your page, you must provide a `return_url`."
            " If you don't want to accept redirect-based payment methods, set `automatic_payment_methods[enabled]` to"
            " `true` and `automatic_payment_methods[allow_redirects]` to `never` when creating the PaymentIntent.",
            param="return_url",
        )


def _payment_error(decline: Decline, charge: str, method: str) -> dict[str, Any]:
    return {
        "type": "card_error",
        "code": decline.code,
        "decline_code": decline.decline_code,
        "message": decline.message,
        "charge": charge,
        "payment_method": {"id": method, "object": "payment_method", "type": "card"},
    }


def _unexpected_state(message: str, intent: dict[str, Any]) -> InvalidRequestError:
    return InvalidRequestError(message, code="payment_intent_unexpected_state", payment_intent=intent)
