"""Form bodies and queries in the bracket notation of the official SDKs: `metadata[order_id]=7`, `types[0]=card`."""

from typing import Any
from urllib.parse import parse_qsl

from provider_double.errors import ParameterError

_MAX_BYTES = 64 * 1024
_MAX_PAIRS = 500


def parse_form(encoded: bytes) -> dict[str, Any]:
    """Nested parameters of a form. Every leaf is a string; arrays stay objects keyed by their index.

    Raises:
        ParameterError: not a form, too large, or one name used both as a value and as an object.
    """
    if len(encoded) > _MAX_BYTES:
        raise ParameterError(f"The request is larger than {_MAX_BYTES} bytes.")
    try:
        pairs = parse_qsl(
            encoded.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(encoded), max_num_fields=_MAX_PAIRS
        )
    except ValueError as error:
        raise ParameterError(f"Invalid form: {error}") from error
    params: dict[str, Any] = {}
    for name, value in pairs:
        _put(params, name, value)
    return params


def _put(params: dict[str, Any], name: str, value: str) -> None:
    head, *rest = name.split("[")
    path = [head, *(part.removesuffix("]") for part in rest)]
    target = params
    for part in path[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise ParameterError(f"Invalid {path[0]}: both a value and an object", param=path[0])
    if isinstance(target.get(path[-1]), dict):
        raise ParameterError(f"Invalid {path[0]}: both a value and an object", param=path[0])
    target[path[-1]] = value
