"""Who runs the suite: containers where an engine answers, the native stack everywhere else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from native.layout import ROOT

ENGINES = {
    "an engine with a new Compose": ('[ "$1" = info ] || echo v5.1.0', "containers"),
    "an engine with the oldest Compose that will do": ('[ "$1" = info ] || echo 2.24.0', "containers"),
    "an engine with an older Compose": ('[ "$1" = info ] || echo 2.9.1', "native"),
    "a client whose engine is down": ('[ "$1" = info ] && exit 1; echo 2.40.3', "native"),
    "a client without Compose": ('[ "$1" = info ] || exit 125', "native"),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the script in a checkout of its own, where nothing was ever up."""
    script = tmp_path / "infra" / "runner.sh"
    script.parent.mkdir()
    shutil.copy(ROOT / "infra" / "runner.sh", script)
    return tmp_path


def runner(checkout: Path, docker: str | None, **settings: str) -> subprocess.CompletedProcess[str]:
    """What the script says where `docker` is a shell script of this text, or is not there."""
    tools = checkout / "tools"
    tools.mkdir(exist_ok=True)
    if docker is not None:
        (tools / "docker").write_text(f"#!/bin/sh\n{docker}\n")
        (tools / "docker").chmod(0o755)
    for tool in ("bash", "cat", "dirname", "sort", "head", "sed", "sh"):
        (tools / tool).unlink(missing_ok=True)
        (tools / tool).symlink_to(str(shutil.which(tool)))
    environment = {"PATH": str(tools)} | settings
    return subprocess.run(
        ["bash", str(checkout / "infra" / "runner.sh")], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_the_engine_decides(checkout: Path, engine: str) -> None:
    docker, expected = ENGINES[engine]
    assert runner(checkout, docker).stdout.strip() == expected


def test_without_docker_it_is_the_native_stack(checkout: Path) -> None:
    assert runner(checkout, None).stdout.strip() == "native"


def test_what_is_up_stays_with_its_runner_and_a_person_overrules_both(checkout: Path) -> None:
    docker = ENGINES["an engine with a new Compose"][0]
    (checkout / ".fencepost" / "dev").mkdir(parents=True)
    (checkout / ".fencepost" / "dev" / "runner").write_text("native\n")
    assert runner(checkout, docker).stdout.strip() == "native"
    assert runner(checkout, docker, FENCEPOST_RUNNER="containers").stdout.strip() == "containers"
    refused = runner(checkout, docker, FENCEPOST_RUNNER="podman")
    assert (refused.returncode, "native or containers" in refused.stderr) == (1, True)
    (checkout / ".env").write_text("FENCEPOST_PORT_BASE=1\nFENCEPOST_STATE_DIR=elsewhere\n")
    assert runner(checkout, docker).stdout.strip() == "containers", "nothing was ever up in that folder"
