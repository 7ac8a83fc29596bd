"""The one middleware: ids, trace, body bound, security headers, one log line, one measurement. Pure ASGI."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from uuid import uuid4

from prometheus_client import Histogram
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service_platform.errors import DomainError
from service_platform.telemetry import correlation_scope, get_logger, restore, span

from .body import BoundedBody, ClientGone
from .errors import UnexpectedError
from .log_events import HttpLogEvent
from .problems import problem_response

CORRELATION_HEADER = "x-correlation-id"

SECURITY_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=31536000; includeSubDomains",
    "x-content-type-options": "nosniff",
}
"""After the OWASP REST security cheat sheet. A route that sets one of them itself keeps its own."""

_QUIET_PREFIXES = ("/health/", "/metrics")

_log = get_logger()
_seconds = Histogram(
    "http_request_seconds",
    "Time from the first byte of a request's head to the end of its answer",
    ("method", "route", "status"),
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class HttpEdge:
    """Stands before every route.

    Takes X-Correlation-Id and traceparent in (unfit ones are replaced, not refused), sends X-Correlation-Id and a
    fresh X-Request-Id out. Turns whatever leaves the application as an exception into a problem without internals,
    and logs it under the same ids.
    """

    def __init__(self, app: ASGIApp, *, max_body_bytes: int, route_of: Callable[[Scope], str]) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._route_of = route_of
        self._security = {name.encode(): value.encode() for name, value in SECURITY_HEADERS.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        with (
            correlation_scope(request.headers.get(CORRELATION_HEADER)) as correlation,
            restore(request.headers),
            span(f"HTTP {scope['method']}"),
        ):
            answer = _Answer(send, self._security, correlation)
            started = time.perf_counter()
            await self._answer(request, receive, answer)
            self._record(scope, answer, time.perf_counter() - started)

    async def _answer(self, request: Request, receive: Receive, answer: _Answer) -> None:
        body = BoundedBody(request.scope, receive, self._max_body_bytes)
        problem: DomainError
        try:
            await body.read()
            await self._app(request.scope, body.receive, answer.send)
        except ClientGone:
            return
        except DomainError as error:
            problem = error
        except Exception:
            _log.exception(HttpLogEvent.REQUEST_FAILED, method=request.method, route=self._route_of(request.scope))
            if answer.status is not None:
                # Half an answer is out: only a broken connection can say that it is not whole.
                raise
            problem = UnexpectedError()
        else:
            return
        response = problem_response(request, problem)
        await response(request.scope, receive, answer.send)

    def _record(self, scope: Scope, answer: _Answer, seconds: float) -> None:
        status = answer.status or 499  # the caller was gone before there was an answer
        route = self._route_of(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        _seconds.labels(method, route, str(status)).observe(seconds)
        log = _log.debug if route.startswith(_QUIET_PREFIXES) else _log.info
        log(
            HttpLogEvent.REQUEST_FINISHED,
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            request_id=answer.request_id,
        )


class _Answer:
    """Sends an answer, with the headers that every one has."""

    def __init__(self, send: Send, security: Mapping[bytes, bytes], correlation: str) -> None:
        self._send = send
        self._security = security
        self._correlation = correlation.encode()
        self.request_id = uuid4().hex
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message["headers"])
            present = {name for name, _ in headers}
            headers.extend(item for item in self._security.items() if item[0] not in present)
            headers.append((b"x-correlation-id", self._correlation))
            headers.append((b"x-request-id", self.request_id.encode()))
            message = {**message, "headers": headers}
        await self._send(message)
