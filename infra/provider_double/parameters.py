"""Reading parameters as strictly as the real API: what it would refuse, is refused here."""

import re
from collections.abc import Collection
from typing import Any

from provider_double.errors import ParameterError

# Eight digits in the currency's minor unit, the documented bound of the API.
MAX_AMOUNT = 99_999_999

_CURRENCY = re.compile(r"[A-Za-z]{3}")
_INTEGER = re.compile(r"-?\d{1,18}")


def only(params: dict[str, Any], known: Collection[str]) -> None:
    """Refuse a parameter that this endpoint, or this double, does not know."""
    for name in params:
        if name not in known:
            raise ParameterError(f"Received unknown parameter: {name}", code="parameter_unknown", param=name)


def required(params: dict[str, Any], name: str) -> Any:
    value = params.get(name)
    if value is None or value == "":
        raise ParameterError(f"Missing required param: {name}.", code="parameter_missing", param=name)
    return value


def text(params: dict[str, Any], name: str) -> str | None:
    """A string, or None where it is not given; an empty one means None, as in the real API."""
    value = params.get(name)
    if isinstance(value, dict):
        raise ParameterError(f"Invalid string: {name}", param=name)
    return value or None


def integer(value: Any, name: str) -> int:
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        raise ParameterError(f"Invalid integer: {value}", code="parameter_invalid_integer", param=name)
    return int(value)


def boolean(params: dict[str, Any], name: str) -> bool:
    value = text(params, name) or "false"
    if value not in {"true", "false"}:
        raise ParameterError(f"Invalid boolean: {value}", param=name)
    return value == "true"


def amount(value: Any) -> int:
    """Minor units, from 1 to `MAX_AMOUNT`."""
    number = integer(value, "amount")
    if number < 1:
        raise ParameterError(
            "This value must be greater than or equal to 1.", code="parameter_invalid_integer", param="amount"
        )
    if number > MAX_AMOUNT:
        raise ParameterError(f"Amount must be no more than {MAX_AMOUNT}.", code="amount_too_large", param="amount")
    return number


def currency(value: Any) -> str:
    if not isinstance(value, str) or not _CURRENCY.fullmatch(value):
        raise ParameterError(f"Invalid currency: {value}.", param="currency")
    return value.lower()


def metadata(params: dict[str, Any]) -> dict[str, str]:
    """At most 50 pairs, keys of 40 and values of 500 characters."""
    given = params.get("metadata") or {}
    if not isinstance(given, dict) or len(given) > 50:
        raise ParameterError("Invalid metadata: at most 50 pairs of strings.", param="metadata")
    for name, value in given.items():
        if not isinstance(value, str) or len(name) > 40 or len(value) > 500:
            raise ParameterError(
                "Invalid metadata: keys have up to 40 characters, values are strings of up to 500.", param="metadata"
            )
    return dict(given)
