"""Probes: alive is not ready, and a check that hangs is one that failed."""

import asyncio
from pathlib import Path

import pytest
from http_lab import app_with, client_of

from service_platform.http import health


async def good() -> None:
    return None


async def bad() -> None:
    raise ConnectionError("postgres://user:hunter2@db")


async def hanging() -> None:
    await asyncio.Event().wait()


async def test_it_is_live_whatever_its_checks_say(tmp_path: Path) -> None:
    async with client_of(app_with(tmp_path, checks={"database": bad})) as client:
        answer = await client.get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "live"})


async def test_it_is_ready_when_every_check_answers(tmp_path: Path) -> None:
    async with client_of(app_with(tmp_path, checks={"database": good})) as client:
        answer = await client.get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "checks": {"database": "ok"}})


@pytest.mark.parametrize("check", [bad, hanging])
async def test_one_failed_or_hanging_check_makes_it_unready_and_tells_no_reason(
    tmp_path: Path, check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_CHECK_SECONDS", 0.05)
    async with client_of(app_with(tmp_path, checks={"database": check, "other": good})) as client:
        answer = await client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json() == {"status": "not ready", "checks": {"database": "failed", "other": "ok"}}


async def test_what_is_to_be_closed_is_closed_in_order_whatever_fails(tmp_path: Path) -> None:
    closed: list[str] = []

    async def first() -> None:
        closed.append("first")
        raise ValueError("cannot close")

    async def second() -> None:
        closed.append("second")

    app = app_with(tmp_path, closing=[first, second])
    with pytest.raises(ValueError, match="cannot close"):
        async with app.router.lifespan_context(app):
            assert closed == []
    assert closed == ["first", "second"]
