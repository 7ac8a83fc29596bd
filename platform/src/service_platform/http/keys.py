"""The public keys that tokens are checked with: a JSON Web Key Set (RFC 7517), cached and refreshed with care."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import orjson
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from service_platform.telemetry import get_logger

from .errors import KeysUnavailable
from .log_events import HttpLogEvent

ALGORITHMS = ("RS256", "ES256")

_FETCH_SECONDS = 5.0
_LARGEST_SET_BYTES = 256 * 1024

_log = get_logger()


class UnusableKeySet(Exception):
    """What came from the address is not a set of keys that we can use."""


class KeySet:
    """Keys by their id from an http(s):// or file:// address.

    Keys older than `max_age_seconds` are fetched again; while that fails, the ones we have stay in use. An id that is
    not among them fetches again at once, which is how a rotation is noticed, but at most every `cooldown_seconds`:
    strangers can invent ids. A fetch has 5 s in all; meanwhile whoever comes with a key that we have goes on with it.
    """

    def __init__(
        self,
        address: str,
        *,
        max_age_seconds: float = 300.0,
        cooldown_seconds: float = 10.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._max_age = max_age_seconds
        self._cooldown = cooldown_seconds
        self._now = now
        self._keys: dict[str, PyJWK] = {}
        self._loaded_at: float | None = None
        self._tried_at: float | None = None
        self._fetching = asyncio.Lock()

    async def key(self, key_id: str) -> PyJWK | None:
        """The key of that id; None when the set has none.

        Raises KeysUnavailable when no set could be fetched yet.
        """
        if self._stale() and not (self._keys and self._fetching.locked()):
            await self._refresh(unless=lambda: not self._stale())
        if key_id not in self._keys:
            await self._refresh(unless=lambda: key_id in self._keys)
        if self._loaded_at is None:
            raise KeysUnavailable
        return self._keys.get(key_id)

    def _stale(self) -> bool:
        return self._loaded_at is None or self._now() - self._loaded_at > self._max_age

    async def _refresh(self, *, unless: Callable[[], bool]) -> None:
        async with self._fetching:
            cooling = self._tried_at is not None and self._now() - self._tried_at < self._cooldown
            if unless() or cooling:
                return
            self._tried_at = self._now()
            try:
                async with asyncio.timeout(_FETCH_SECONDS):
                    self._keys = _usable_keys(await self._fetch())
            except (OSError, httpx.HTTPError, UnusableKeySet) as error:
                _log.warning(HttpLogEvent.KEYS_UNAVAILABLE, address=self._address, reason=repr(error))
                return
            self._loaded_at = self._now()
            _log.info(HttpLogEvent.KEYS_LOADED, address=self._address, key_ids=sorted(self._keys))

    async def _fetch(self) -> bytes:
        parts = urlsplit(self._address)
        if parts.scheme == "file":
            return await asyncio.to_thread(Path(unquote(parts.path)).read_bytes)
        async with (
            httpx.AsyncClient(timeout=_FETCH_SECONDS, follow_redirects=False) as client,
            client.stream("GET", self._address) as answer,
        ):
            answer.raise_for_status()
            body = b""
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > _LARGEST_SET_BYTES:
                    raise UnusableKeySet(f"larger than {_LARGEST_SET_BYTES} bytes")
            return body


def _usable_keys(raw: bytes) -> dict[str, PyJWK]:
    """The signing keys of a set that are of our algorithms and have an id; others are passed over (RFC 7517, 5)."""
    try:
        entries = orjson.loads(raw)["keys"]
        keys: dict[str, PyJWK] = {}
        for entry in entries:
            key_id = entry.get("kid")
            if isinstance(key_id, str) and entry.get("kty") in {"RSA", "EC"} and entry.get("use", "sig") == "sig":
                key = PyJWK.from_dict(entry)
                if key.algorithm_name in ALGORITHMS:
                    keys[key_id] = key
    except (ValueError, KeyError, TypeError, AttributeError, PyJWTError) as error:
        raise UnusableKeySet(f"not a JSON Web Key Set: {error}") from error
    if not keys:
        raise UnusableKeySet("no RS256 or ES256 signing key with a kid in it")
    return keys
