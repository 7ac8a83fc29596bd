"""What the card provider tells. It is a hint: signed, kept by its id, and looked into by a job of our own."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Header
from starlette.requests import Request

from payment_service.domain.payments import CheckService, TakeHint, WebhookRefused, WebhookVerifier
from service_platform.http import problems_of, public

# Read as bytes, since these are what is signed; of what they say, only the ids are looked at.
_SENT: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "object"},
                "example": {
                    "id": "evt_1QK1x2Fencepost3kL4mN5o",
                    "object": "event",
                    "type": "payment_intent.succeeded",
                    "data": {"object": {"id": "pi_3QK1x2Fencepost0aB1cD2e", "object": "payment_intent"}},
                },
            }
        },
    }
}


def webhooks_router(checks: CheckService, verifier: WebhookVerifier) -> APIRouter:
    """`POST /webhooks/card-provider`: without a token, since the provider signs every call, with the time in it."""
    router = APIRouter(prefix="/webhooks", tags=["webhooks"])

    @router.post(
        "/card-provider",
        status_code=204,
        dependencies=[public("the provider signs each call, and its time")],
        responses=problems_of(WebhookRefused),
        openapi_extra=_SENT,
    )
    async def take_webhook(
        request: Request, signature: Annotated[str, Header(alias="Stripe-Signature", max_length=2000)] = ""
    ) -> None:
        await checks.take_hint(TakeHint(hint=verifier.verified(await request.body(), signature)))

    return router
