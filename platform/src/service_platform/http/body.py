"""The request's body: bounded, JSON, without NUL, and read before the application runs."""

from __future__ import annotations

import asyncio
import re

from starlette.requests import Request
from starlette.types import Message, Receive, Scope

from .errors import ContentTooLarge, NulCharacter, RequestMalformed, RequestTooSlow, UnsupportedMediaType

_JSON = re.compile(rb"application/(?:[\w.+-]+\+)?json\s*(?:;|$)", re.IGNORECASE)
_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_BODY_SECONDS = 30.0


class ClientGone(Exception):
    """The caller closed the connection before the request was whole: nobody waits for an answer."""


class BoundedBody:
    """Reads a request's body whole, up to a limit, and hands it to the application as one message."""

    def __init__(self, scope: Scope, receive: Receive, limit: int) -> None:
        self._request = Request(scope)
        self._receive = receive
        self._limit = limit
        self._message: Message | None = None

    async def read(self) -> None:
        """Take the body in.

        Raises RequestMalformed, ContentTooLarge, RequestTooSlow, UnsupportedMediaType, NulCharacter, or ClientGone.
        """
        scope = self._request.scope
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            raise NulCharacter
        headers = self._request.headers
        announced = headers.get("content-length")
        if announced is None and "transfer-encoding" not in headers:
            return
        if announced is not None:
            if not announced.isdecimal():
                raise RequestMalformed
            if int(announced) > self._limit:
                raise ContentTooLarge(limit_bytes=self._limit)
        body = await self._all()
        self._message = {"type": "http.request", "body": body, "more_body": False}
        if body:
            _check(body, headers.get("content-type", ""))

    async def receive(self) -> Message:
        """What the application reads from: the whole body first, then what the server says (a disconnect)."""
        if self._message is not None:
            message, self._message = self._message, None
            return message
        return await self._receive()

    async def _all(self) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while True:
                    message = await self._next()
                    body += message.get("body", b"")
                    if len(body) > self._limit:
                        raise ContentTooLarge(limit_bytes=self._limit)
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError as error:
            raise RequestTooSlow from error

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        return message


def _check(body: bytes, content_type: str) -> None:
    if not _JSON.match(content_type.encode()):
        raise UnsupportedMediaType
    if b"\0" in body or (b"\\u0000" in body and _ESCAPED_NUL.search(body)):
        raise NulCharacter
