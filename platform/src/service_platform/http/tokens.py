"""Bearer tokens: who asks, and what they may do."""

from __future__ import annotations

import time
from dataclasses import dataclass

import jwt
from jwt import PyJWK

from service_platform.telemetry import get_logger

from .errors import TokenInvalid
from .keys import ALGORITHMS, KeySet
from .log_events import HttpLogEvent

_LONGEST_TOKEN = 8 * 1024
_LONGEST_SUBJECT = 255
_LEEWAY_SECONDS = 10
_MOST_REMEMBERED = 1024

_log = get_logger()


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: the token's subject and scopes."""

    subject: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Whether the token carries `scope`."""
        return scope in self.scopes


@dataclass(frozen=True, slots=True)
class _Verified:
    """A token that was checked before: good as long as its key is in the set and it has not expired."""

    principal: Principal
    key_id: str
    key: PyJWK
    expires: float


class TokenVerifier:
    """Checks JSON Web Tokens as RFC 8725 advises.

    The algorithm is the key's, never the token's word; `none` and the HMAC family do not exist here. Issuer, audience,
    subject, expiry and time of issue are required. Tokens that were good are remembered, since their check is a third
    of a request's work; every use still asks for the key and looks at the expiry.
    """

    def __init__(self, keys: KeySet, *, issuer: str, audience: str) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience
        self._remembered: dict[str, _Verified] = {}

    async def verify(self, token: str) -> Principal:
        """The principal of a valid token.

        Raises TokenInvalid, which does not tell why (the log does), or KeysUnavailable when no keys were had yet.
        """
        known = self._remembered.get(token)
        if known is not None:
            if await self._keys.key(known.key_id) is known.key and time.time() < known.expires:
                return known.principal
            self._remembered.pop(token, None)
        verified = await self._verified(token)
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[token] = verified
        return verified.principal

    async def _verified(self, token: str) -> _Verified:
        if len(token) > _LONGEST_TOKEN:
            raise self._refused("longer than a token may be")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError as error:
            raise self._refused(str(error)) from error
        key_id = header.get("kid")
        if header.get("alg") not in ALGORITHMS or not isinstance(key_id, str):
            raise self._refused("no RS256 or ES256 token with a key id")
        key = await self._keys.key(key_id)
        if key is None:
            raise self._refused("signed by an unknown key")
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._audience,
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise self._refused(str(error)) from error
        return _Verified(self._principal(claims), key_id, key, float(claims["exp"]) + _LEEWAY_SECONDS)

    def _principal(self, claims: dict[str, object]) -> Principal:
        subject, scope = claims["sub"], claims.get("scope", "")
        if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or not subject.isprintable():
            raise self._refused("the subject is not a short text")
        if not isinstance(scope, str):
            raise self._refused("scope is not a text with spaces between its scopes (RFC 8693, 4.2)")
        return Principal(subject, frozenset(scope.split()))

    @staticmethod
    def _refused(reason: str) -> TokenInvalid:
        _log.info(HttpLogEvent.TOKEN_REFUSED, reason=reason)
        return TokenInvalid()
