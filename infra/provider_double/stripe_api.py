"""The `/v1` surface: routes of the part of the Stripe API that we use. It translates, and hands on to the desk.

Plain Starlette routes: these are the hot path, and a form in bracket notation is nothing that FastAPI could read.
"""

import hmac
import secrets
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from provider_double.calls import Answer, Call
from provider_double.connections import Connections
from provider_double.desk import Desk, Operation
from provider_double.errors import ParameterError, ProviderError, ResourceMissingError, UnauthenticatedError
from provider_double.events import API_VERSION
from provider_double.forms import parse_form
from provider_double.intents import PaymentIntents
from provider_double.refunds import Refunds

_MAX_KEY_LENGTH = 255


class StripeApi:
    """Builds the routes. `answered` is called after every call, when there may be news to deliver."""

    def __init__(
        self,
        *,
        api_key: str,
        desk: Desk,
        connections: Connections,
        intents: PaymentIntents,
        refunds: Refunds,
        answered: Callable[[], None],
    ) -> None:
        self._api_key = api_key.encode()
        self._desk = desk
        self._connections = connections
        self._intents = intents
        self._refunds = refunds
        self._answered = answered

    def routes(self) -> list[BaseRoute]:
        intents, refunds = self._intents, self._refunds
        return [
            self._route("POST", "/v1/payment_intents", "payment_intents.create", intents.create),
            self._route("GET", "/v1/payment_intents", "payment_intents.list", intents.list),
            self._route("GET", "/v1/payment_intents/search", "payment_intents.search", intents.search),
            self._route("GET", "/v1/payment_intents/{intent}", "payment_intents.retrieve", intents.retrieve),
            self._route("POST", "/v1/payment_intents/{intent}/confirm", "payment_intents.confirm", intents.confirm),
            self._route("POST", "/v1/payment_intents/{intent}/cancel", "payment_intents.cancel", intents.cancel),
            self._route("POST", "/v1/refunds", "refunds.create", refunds.create),
            self._route("GET", "/v1/refunds", "refunds.list", refunds.list),
            self._route("GET", "/v1/refunds/{refund}", "refunds.retrieve", refunds.retrieve),
            Route("/v1/{rest:path}", self._unknown, methods=["GET", "POST", "DELETE"]),
        ]

    def _route(self, method: str, path: str, name: str, operation: Operation) -> Route:
        async def endpoint(request: Request) -> Response:
            request_id = f"req_{secrets.token_hex(7)}"
            try:
                self._authenticate(request)
                call = await _read_call(request, name, request_id)
            except ProviderError as error:
                return _respond(Answer.refusal(error), request_id)
            answer = await self._desk.handle(call, operation)
            self._answered()
            if answer is None:
                return await self._cut(request)
            return _respond(answer, request_id, call.idempotency_key)

        handler: Callable[[Request], Awaitable[Response]] = endpoint
        return Route(path, handler, methods=[method], name=name)

    def _authenticate(self, request: Request) -> None:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise UnauthenticatedError("You did not provide an API key. Use `Authorization: Bearer YOUR_SECRET_KEY`.")
        if not hmac.compare_digest(key.strip().encode(), self._api_key):
            raise UnauthenticatedError("Invalid API Key provided.")

    async def _cut(self, request: Request) -> Response:
        client = request.client
        if client is not None:
            self._connections.cut((client.host, client.port))
            # Wait until the server knows that the client is gone: it then discards what we return.
            while (await request.receive())["type"] != "http.disconnect":
                pass
        return Response(status_code=500)

    async def _unknown(self, request: Request) -> Response:
        error = ResourceMissingError(f"Unrecognized request URL ({request.method}: {request.url.path}).")
        return _respond(Answer.refusal(error), f"req_{secrets.token_hex(7)}")


async def _read_call(request: Request, operation: str, request_id: str) -> Call:
    encoded = request.url.query.encode() if request.method == "GET" else await request.body()
    params = parse_form(encoded)
    key = request.headers.get("idempotency-key") if request.method == "POST" else None
    if key is not None and not 0 < len(key) <= _MAX_KEY_LENGTH:
        raise ParameterError(f"Idempotency keys have 1 to {_MAX_KEY_LENGTH} characters.")
    path_intent = request.path_params.get("intent")
    named_intent = params.get("payment_intent")
    return Call(
        operation=operation,
        method=request.method,
        path=request.url.path,
        params=params,
        request_id=request_id,
        idempotency_key=key,
        intent=path_intent or (named_intent if isinstance(named_intent, str) else None),
        refund=request.path_params.get("refund"),
    )


def _respond(answer: Answer, request_id: str, idempotency_key: str | None = None) -> Response:
    headers = {"Request-Id": request_id, "Stripe-Version": API_VERSION, **answer.headers}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    if answer.replay_of is not None:
        headers |= {"Idempotent-Replayed": "true", "Original-Request": answer.replay_of}
    return Response(answer.body, answer.status, headers, media_type="application/json")
