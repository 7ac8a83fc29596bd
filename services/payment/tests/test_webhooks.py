"""Webhooks over HTTP: signed, in their window, once each, and never believed."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import stripe
from payment_api import payment_api
from payment_lab import PaymentLab

SECRET = "whsec_of_the_tests"


@pytest.fixture
async def api(lab: PaymentLab, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with payment_api(lab, tmp_path, webhook_secret=SECRET) as client:
        yield client


async def tell(
    api: httpx.AsyncClient,
    event: dict[str, Any] | bytes,
    *,
    secret: str = SECRET,
    at: float | None = None,
    signature: str | None = None,
) -> httpx.Response:
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    signed = stripe.WebhookSignature.generate_signature_header(body.decode(), secret, int(at or time.time()))
    headers = {"Content-Type": "application/json; charset=utf-8"}
    if signature != "":
        headers["Stripe-Signature"] = signature or signed
    return await api.post("/webhooks/card-provider", content=body, headers=headers)


def about(intent_id: str, *, event_id: str = "evt_1", status: str = "succeeded") -> dict[str, Any]:
    subject = {"id": intent_id, "object": "payment_intent", "status": status, "amount_received": 1}
    return {"id": event_id, "type": f"payment_intent.{status}", "data": {"object": subject}}


async def test_a_webhook_is_kept_by_its_id_with_one_check(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    answers = [await tell(api, about("pi_1")) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [204, 204, 204]
    assert [row["event_id"] for row in await lab.rows("SELECT event_id FROM provider_events")] == ["evt_1"]
    assert await lab.rows("SELECT kind, job_key FROM job") == [
        {"kind": "payment.check-intent", "job_key": "check:evt_1"}
    ]


@pytest.mark.parametrize("age", [-299, 0, 290])
async def test_within_the_window_it_is_taken(api: httpx.AsyncClient, age: int) -> None:
    assert (await tell(api, about("pi_1"), at=time.time() - age)).status_code == 204


@pytest.mark.parametrize(
    "how",
    [{"secret": "whsec_other"}, {"signature": ""}, {"signature": "t=1,v1=00"}, {"signature": "nonsense"}, {"at": 10.0}],
    ids=["another secret", "none", "wrong", "nonsense", "recorded long ago"],
)
async def test_what_the_provider_did_not_sign_just_now_is_refused_and_leaves_no_trace(
    lab: PaymentLab, api: httpx.AsyncClient, how: dict[str, Any]
) -> None:
    answer = await tell(api, about("pi_1"), **how)
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert answer.json()["type"].endswith("webhook-refused")
    assert await lab.rows("SELECT event_id FROM provider_events") == []
    assert await lab.rows("SELECT id FROM job") == []


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{}", b'{"id": 1, "type": "x", "data": {"object": {}}}', b'{"id": "evt", "type": "x", "data": []}', b"x"],
)
async def test_a_signed_body_of_another_shape_is_refused(api: httpx.AsyncClient, body: bytes) -> None:
    assert (await tell(api, body)).status_code == 400


async def test_an_event_about_something_else_is_kept_and_checks_nothing(
    lab: PaymentLab, api: httpx.AsyncClient
) -> None:
    event = {"id": "evt_9", "type": "payout.paid", "data": {"object": {"id": "po_1", "object": "payout"}}}
    assert (await tell(api, event)).status_code == 204
    assert len(await lab.rows("SELECT event_id FROM provider_events")) == 1
    assert await lab.rows("SELECT id FROM job") == []


async def test_a_refunds_event_checks_the_intent_that_it_names(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    subject = {"id": "re_1", "object": "refund", "payment_intent": "pi_7"}
    await tell(api, {"id": "evt_2", "type": "refund.created", "data": {"object": subject}})
    assert await lab.rows("SELECT payload ->> 'intent_id' AS intent FROM job") == [{"intent": "pi_7"}]


async def test_the_body_is_not_believed_the_provider_is_asked(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="drop", times=2)
    await lab.deliver()
    payment = await lab.payment()
    assert payment["status"] == "confirming"
    await lab.kill_jobs()
    await tell(api, about(payment["intent_id"], status="succeeded"))
    await lab.deliver()
    assert (await lab.payment())["status"] == "confirming", "the intent is unconfirmed, whatever the body says"
    assert await lab.told() == []


async def test_a_check_settles_a_payment_whose_answer_was_lost_and_the_job_then_finds_it_settled(
    lab: PaymentLab, api: httpx.AsyncClient
) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="drop", point="after", times=2)
    await lab.deliver()
    payment = await lab.payment()
    await tell(api, about(payment["intent_id"]))
    await lab.deliver()
    assert (await lab.payment())["status"] == "settled"
    await tell(api, about(payment["intent_id"], event_id="evt_2", status="payment_failed"))
    await lab.let_time_pass()
    await lab.deliver()
    assert await lab.told() == ["payment.settled"]
    assert await lab.moved() == [("capture", 1999)]
    assert {job["status"] for job in await lab.rows("SELECT status FROM job")} == {"done"}


async def test_an_orphan_intents_webhook_has_no_effect_but_a_check(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    """It may be one that a run is about to store."""
    await lab.placed()
    await lab.fault(operation="payment_intents.create", outcome="drop", point="after", times=2)
    await lab.deliver()
    orphan = (await lab.ledger())["calls"][0]["intent"]
    await tell(api, about(orphan, status="created"))
    await lab.deliver()
    assert await lab.at_the_provider(orphan) == "requires_confirmation"
    await lab.let_time_pass()
    await lab.deliver()
    assert (await lab.payment())["status"] == "settled"
