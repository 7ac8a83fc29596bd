"""The doors by which a person decides: HTTP with the scope `ops`, and the command."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from payment_api import caller, payment_api
from payment_lab import PaymentLab

from payment_service.operations import ACTIONS
from provider_double.testing import API_KEY, ProviderProcess
from service_platform.messages import LANGUAGES
from service_platform.operations import ACTIONS as OF_THE_PLATFORM
from world.service_process import run, service_environment


@pytest.fixture
async def api(lab: PaymentLab, provider_process: ProviderProcess, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with payment_api(lab, tmp_path, provider=(provider_process.url, API_KEY)) as client:
        yield client


async def review_of_a_capture(lab: PaymentLab) -> str:
    """A captured payment that needs review; its id."""
    await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="drop", point="after", times=2)
    await lab.deliver()
    await lab.kill_jobs()
    return str((await lab.under_review())["id"])


async def test_over_http_it_is_listed_refused_with_what_to_do_and_resolved(
    lab: PaymentLab, api: httpx.AsyncClient
) -> None:
    payment_id = await review_of_a_capture(lab)
    path = f"/ops/payments/{payment_id}/resolve"
    assert (await api.post(path, json={"status": "settled", "reason": "seen"}, headers=caller())).status_code == 403
    (listed,) = (await api.get("/ops/payments", headers=caller("ops"))).json()["items"]
    assert (listed["id"], listed["reason"]) == (payment_id, "open_too_long")
    refused = await api.post(path, json={"status": "declined", "reason": "seen"}, headers=caller("ops"))
    assert refused.status_code == 409
    assert refused.json()["type"].endswith("money-still-held")
    assert "Refund the rest at the provider" in refused.json()["detail"]
    done = await api.post(path, json={"status": "settled", "reason": "seen"}, headers=caller("ops"))
    assert (done.status_code, done.json()["status"]) == (200, "settled")
    assert (await api.get("/ops/payments", headers=caller("ops"))).json()["items"] == []
    audit = await lab.rows("SELECT actor, outcome, input ->> 'reason' AS why FROM operator_audit WHERE action = "
                           "'payments resolve' ORDER BY at")  # fmt: skip
    assert [tuple(row.values()) for row in audit] == [("eve", "refused", "seen"), ("eve", "done", "seen")]


async def test_a_refunds_reference_goes_with_what_was_done(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    payment = await lab.settled()
    view = await lab.refund(payment["id"], 700)
    body = {"status": "failed", "provider_reference": "re_1", "reason": "seen"}
    answer = await api.post(f"/ops/refunds/{view.id}/resolve", json=body, headers=caller("ops"))
    assert answer.status_code == 422
    assert (await api.get("/ops/refunds", headers=caller("ops"))).json()["items"] == []


async def test_at_a_terminal_it_is_resolved_by_what_the_provider_says(
    lab: PaymentLab, provider_process: ProviderProcess
) -> None:
    payment_id = await review_of_a_capture(lab)
    ended = await run(
        *(sys.executable, "-m", "payment_service.main.ops", "payments", "resolve", payment_id),
        *("--status", "settled", "--reason", "seen", "--actor", "jane", "--json"),
        env=service_environment("payment", lab.database.address)
        | {
            "STRIPE_API_BASE": provider_process.url,
            "STRIPE_API_KEY": API_KEY,
            "STRIPE_WEBHOOK_SECRET": "whsec_none",
        },
        within=120,
    )
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["status"] == "settled"
    assert await lab.told() == ["payment.settled"]


def test_the_services_own_actions_speak_every_language_and_each_refusal_says_what_to_do() -> None:
    own = [action for action in ACTIONS if action not in list(OF_THE_PLATFORM) and action.things != "ticks"]
    assert {action.name for action in own} == {
        "payments list",
        "payments resolve",
        "refunds list",
        "refunds resolve",
    }
    for action in own:
        for language in LANGUAGES:
            assert action.summary(language)
            assert action.detail(language).endswith(".")
        for refusal in action.refusals:
            if not refusal.slug.endswith("-not-found"):
                assert f"{refusal.slug}.detail" in refusal._messages
