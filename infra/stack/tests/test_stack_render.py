"""How the stack file comes out of docker-compose.yaml, the overlay and the lock."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from native.errors import StackError
from native.layout import ROOT
from native.testing import command_or_skip
from stack import Lock, render_stack
from stack.dialect import LEFT_OUT, to_swarm
from stack.images import UNPUBLISHED
from stack.overlay import laid_over, services_with
from stack.render import LOCK, OVERLAY, as_text, first_part

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())
STEPS = {"bootstrap", "topics", "order-migrate", "payment-migrate", "billing-migrate"}


def test_a_service_is_said_in_the_words_of_swarm() -> None:
    compose = {
        "image": "fencepost/order", "mem_limit": "64m", "restart": "unless-stopped", "tmpfs": ["/tmp"],
        "shm_size": "128m", "volumes": ["data:/data"], "ports": ["127.0.0.1:1:1"], "build": ".", "init": True,
    }  # fmt: skip
    assert to_swarm("one", compose) == {
        "image": "fencepost/order",
        "init": True,
        "volumes": [
            "data:/data",
            {"type": "tmpfs", "target": "/tmp"},
            {"type": "tmpfs", "target": "/dev/shm", "tmpfs": {"size": 128 * 1024**2}},
        ],
        "deploy": {
            "resources": {"limits": {"memory": "64m"}},
            "replicas": 1,
            "restart_policy": {"condition": "any", "delay": "5s"},
        },
    }


def test_a_step_that_ends_becomes_a_job_that_is_tried_again() -> None:
    assert to_swarm("step", {"image": "fencepost/order", "restart": "no"})["deploy"] == {
        "mode": "replicated-job",
        "restart_policy": {"condition": "on-failure", "delay": "5s"},
    }


def test_a_key_that_nobody_has_decided_about_is_refused() -> None:
    with pytest.raises(StackError, match="one has cpus") as refused:
        to_swarm("one", {"image": "fencepost/order", "cpus": 2})
    assert "dialect.py" in refused.value.mend


def test_what_is_laid_over_is_merged_replaced_or_taken_away() -> None:
    below = {"environment": {"A": "1", "B": "2"}, "secrets": ["one", "two"], "command": ["old"]}
    above = {"environment": {"B": "3", "A": None}, "secrets": ["three"]}
    assert laid_over(below, above) == {"environment": {"B": "3"}, "secrets": ["three"], "command": ["old"]}


def test_patterns_of_an_overlay_meet_services_in_the_order_of_the_file() -> None:
    services = {"a-api": {"image": "x"}, "b-api": {"image": "x"}, "mail": {"image": "x"}}
    overlay = {"*-api": {"replicas": 2}, "b-api": {"replicas": 3}, "mail": None, "ingress": {"image": "caddy"}}
    assert services_with(services, overlay) == {
        "a-api": {"image": "x", "replicas": 2},
        "b-api": {"image": "x", "replicas": 3},
        "ingress": {"image": "caddy"},
    }
    with pytest.raises(StackError, match=r"'\*-apis' meets no service"):
        services_with(services, {"*-apis": {}})


def test_the_stack_has_what_compose_has_without_the_doubles(stack: dict[str, Any]) -> None:
    assert stack["services"].keys() == COMPOSE["services"].keys() - {"provider", "mail"} | {"ingress"}
    assert stack["volumes"].keys() == {"postgres", "kafka", "redis", "ingress-data", "ingress-config"}
    left = {key for service in stack["services"].values() for key in service} & LEFT_OUT.keys()
    assert left == {"ports"}  # the ingress's


def test_the_first_part_is_the_stores_and_the_steps_as_they_are_in_the_stack(stack: dict[str, Any]) -> None:
    first = first_part(stack)
    assert first["services"].keys() == STEPS | {"postgres", "kafka", "redis"}
    assert first["services"].items() <= stack["services"].items()


def test_every_one_shot_step_is_a_job_and_nothing_else_is(stack: dict[str, Any]) -> None:
    jobs = {name for name, one in stack["services"].items() if one["deploy"].get("mode") == "replicated-job"}
    assert jobs == STEPS


def test_the_settings_of_the_example_are_those_that_the_stack_asks_for(
    stack: dict[str, Any], filled_in: dict[str, str]
) -> None:
    text = as_text(stack).replace("$$", "")
    assert set(re.findall(r"\$\{(\w+)", text)) == filled_in.keys()
    asked = set(re.findall(r"\$\{(\w+):\?", text))
    assert asked == {name for name, value in filled_in.items() if value} - {"SMTP_PORT", "FENCEPOST_LOG_LEVEL"}


def test_a_site_can_name_a_new_secret_and_leave_a_store_to_others(tmp_path: Path) -> None:
    site = tmp_path / "site.yaml"
    site.write_text(
        "services: {postgres: null, '*-api': {environment: {DATABASE_HOST: db.example.com}}}\n"
        "secrets: {redis-password: {name: fencepost-redis-password-2}}\n"
    )
    stack = render_stack(Lock.read(LOCK), overlays=(OVERLAY, site))
    assert "postgres" not in stack["services"]
    assert "postgres" not in stack["volumes"]
    assert stack["services"]["order-api"]["environment"]["DATABASE_HOST"] == "db.example.com"
    assert stack["secrets"]["redis-password"] == {"external": True, "name": "fencepost-redis-password-2"}
    site.write_text("secrets: {redis-passwort: {name: x}}\n")
    with pytest.raises(StackError, match="redis-passwort, which no service uses"):
        render_stack(Lock.read(LOCK), overlays=(OVERLAY, site))


def lock_of(folder: Path, *, unpublished: Sequence[str] = ()) -> Path:
    """A lock of the real images, published but for some."""
    lines = ["images:"]
    for name in Lock.read(LOCK).images:
        digest = UNPUBLISHED if name in unpublished else f"sha256:{'1' * 64}"
        lines.append(f"  {name}: registry.example/{name}@{digest}")
    (folder / "lock.yaml").write_text("\n".join(lines))
    return folder / "lock.yaml"


def test_images_that_nobody_has_published_are_told_by_name(tmp_path: Path) -> None:
    lock = lock_of(tmp_path, unpublished=["fencepost/db", "fencepost/edges"])
    with pytest.raises(StackError, match=r"(?m)no digest yet for fencepost/db, fencepost/edges$") as refused:
        Lock.read(lock).check_published()
    assert "images.yaml" in refused.value.mend


@pytest.mark.parametrize("reference", ["registry.example/order:1.0", "registry.example/order@sha256:abc"])
def test_an_image_without_a_whole_digest_is_no_lock(tmp_path: Path, reference: str) -> None:
    (tmp_path / "lock.yaml").write_text(f"images: {{fencepost/order: '{reference}'}}")
    with pytest.raises(StackError, match="names no image by its digest"):
        Lock.read(tmp_path / "lock.yaml")


def written(lock: Path, into: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stack", "--lock", str(lock), "--into", str(into)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_command_refuses_an_image_that_nobody_can_pull(tmp_path: Path) -> None:
    refused = written(lock_of(tmp_path, unpublished=["fencepost/db"]), tmp_path / "out")
    assert refused.returncode == 1
    assert "no digest yet for fencepost/db" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_the_command_writes_all_that_a_manager_node_needs(tmp_path: Path) -> None:
    assert written(lock_of(tmp_path), tmp_path / "out").returncode == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"Caddyfile", "first.yaml", "stack.yaml"}
    stack = yaml.safe_load((tmp_path / "out" / "stack.yaml").read_text())
    assert stack["services"]["order-api"]["image"] == f"registry.example/fencepost/order@sha256:{'1' * 64}"
    assert (tmp_path / "out" / stack["configs"]["caddyfile"]["file"]).exists()


def test_dockers_own_reader_takes_both_files(tmp_path: Path, stack: dict[str, Any], filled_in: dict[str, str]) -> None:
    (tmp_path / "Caddyfile").touch()
    file = tmp_path / "stack.yaml"
    command = [command_or_skip("docker"), "stack", "config", "-c", str(file)]
    for part in (first_part(stack), stack):
        file.write_text(as_text(part))
        read = subprocess.run(command, env=filled_in, capture_output=True, text=True, check=False)
        assert (read.returncode, read.stderr) == (0, "")
        assert yaml.safe_load(read.stdout)["services"].keys() == part["services"].keys()
    without = {name: value for name, value in filled_in.items() if name != "JWT_ISSUER"}
    refused = subprocess.run(command, env=without, capture_output=True, text=True, check=False)
    assert "JWT_ISSUER is missing a value: set it to who signs the tokens" in refused.stderr


def test_postgres_gets_its_key_as_its_own_user_reads_it_alone(stack: dict[str, Any]) -> None:
    """The server does not start on a key that others may read; its image runs it as user 999."""
    keys = [secret for secret in stack["services"]["postgres"]["secrets"] if isinstance(secret, dict)]
    assert keys == [{"source": "postgres.key", "target": "postgres.key", "uid": "999", "gid": "999", "mode": 0o400}]


def test_what_compose_tells_postgres_and_redis_is_told_in_the_stack_too(stack: dict[str, Any]) -> None:
    """The overlay says their commands anew: what is added to docker-compose.yaml later must not be missing there."""
    settings = re.compile(r"-c \"?(\w+)=")
    of_compose = settings.findall(COMPOSE["services"]["postgres"]["command"])
    assert of_compose
    assert set(of_compose) <= set(settings.findall(stack["services"]["postgres"]["command"]))
    directives = {line.split()[0] for line in COMPOSE["services"]["redis"]["command"][2].splitlines()}
    assert directives <= {line.split()[0] for line in stack["services"]["redis"]["command"][2].splitlines()}
