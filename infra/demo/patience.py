"""HTTP for a client whose servers are killed under it: ask again, the same, until an answer comes or time is up."""

from collections.abc import Mapping
from time import monotonic
from types import TracebackType
from typing import Any, Self

import httpx
import tenacity

# A server that was stopped keeps its connections open and silent, so a try ends by itself; but one that is only slow
# must not be asked again while it still works at the answer.
_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_BACKOFF = tenacity.wait_random_exponential(multiplier=0.1, max=2.0)
_LONGEST_RETRY_AFTER = 30.0


class Unanswered(Exception):
    """No usable answer came for as long as the client was willing to ask."""


class Refused(Exception):
    """The server answered, and asking again would not change the answer: a status of 4xx."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.body = response.text
        request = response.request
        super().__init__(f"{request.method} {request.url} answered {self.status}: {self.body[:500]}")


class _AskAgain(Exception):
    """An answer that may be another one soon."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"status {response.status_code}: {response.text[:200]}")
        seconds = response.headers.get("Retry-After", "")
        self.retry_after = min(float(seconds), _LONGEST_RETRY_AFTER) if seconds.isdigit() else 0.0


class PatientClient:
    """Repeats a request, unchanged, on lost connections, timeouts, 5xx, 408 and 429.

    It gives up when the server has answered nothing usable, to any request, for `patience` seconds: a server that is
    slow but works is not given up for the sake of the request that happens to wait longest.

    So it may only be given requests that do no harm twice: reads, writes that carry an Idempotency-Key, and writes
    that change nothing when they are asked for again.
    """

    def __init__(self, base_url: str, *, patience: float, connections: int = 16) -> None:
        self._base_url = base_url
        self._patience = patience
        self._answered_at = 0.0
        self._http = httpx.AsyncClient(
            base_url=base_url,
            timeout=_TIMEOUT,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            trust_env=False,  # the suite is on this host, never behind a proxy
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def get(
        self, path: str, params: Mapping[str, str | int] | None = None, *, token: str | None = None
    ) -> httpx.Response:
        """Raises `Refused` and `Unanswered`."""
        return await self._ask("GET", path, headers=_bearer(token), params=params)

    async def post(self, path: str, body: Mapping[str, Any], *, token: str, idempotency_key: str) -> httpx.Response:
        """Raises `Refused` and `Unanswered`."""
        headers = _bearer(token) | {"Idempotency-Key": idempotency_key}
        return await self._ask("POST", path, headers=headers, json=body)

    async def request(self, path: str, *, token: str) -> httpx.Response:
        """A POST without body and key, for what asking again does not change. Raises `Refused` and `Unanswered`."""
        return await self._ask("POST", path, headers=_bearer(token))

    async def _ask(self, method: str, path: str, **parts: Any) -> httpx.Response:
        begun_at = monotonic()
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type((httpx.TransportError, _AskAgain)),
            wait=_wait,
            stop=lambda _: monotonic() - max(begun_at, self._answered_at) > self._patience,
            reraise=True,
        )
        try:
            return await retrying(self._try, method, path, **parts)
        except (httpx.TransportError, _AskAgain) as error:
            raise Unanswered(
                f"{method} {self._base_url}{path} had no usable answer for {self._patience:g} s; "
                f"the last try ended with {type(error).__name__.lstrip('_')}: {error}"
            ) from error

    async def _try(self, method: str, path: str, **parts: Any) -> httpx.Response:
        response = await self._http.request(method, path, **parts)
        if response.status_code >= 500 or response.status_code in (408, 429):
            raise _AskAgain(response)
        self._answered_at = monotonic()
        if response.is_client_error:
            raise Refused(response)
        return response


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return max(_BACKOFF(state), error.retry_after if isinstance(error, _AskAgain) else 0.0)


def _bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}
