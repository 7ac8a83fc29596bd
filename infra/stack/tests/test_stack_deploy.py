"""What Docker's own client asks a swarm for when it deploys the stack, heard by an engine that starts nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from native.testing import command_or_skip
from native.topology import KINDS, SERVICES
from stack.render import HERE, as_text, first_part
from stack.testing import SwarmDouble, answering


def deployed(
    stack: dict[str, Any], settings: dict[str, str], folder: Path, *, without: str = ""
) -> tuple[SwarmDouble, subprocess.CompletedProcess[str]]:
    """The swarm after `docker stack deploy`, and what the client said; `without` is a secret that the swarm lacks."""
    docker = command_or_skip("docker")
    (folder / "stack.yaml").write_text(as_text(stack))
    shutil.copy(HERE / "Caddyfile", folder)
    swarm = SwarmDouble([secret["name"] for secret in stack["secrets"].values() if secret["name"] != without])
    words = ["stack", "deploy", "--resolve-image", "never", "--detach=true", "-c", str(folder / "stack.yaml"), "shop"]
    with answering(swarm) as host:
        told = {**settings, "DOCKER_HOST": host, "HOME": str(folder), "PATH": os.environ["PATH"]}
        done = subprocess.run([docker, *words], env=told, capture_output=True, text=True, check=False, timeout=60)
    return swarm, done


def test_the_swarm_is_asked_for_every_service_and_no_word_is_left_out(
    stack: dict[str, Any], filled_in: dict[str, str], tmp_path: Path
) -> None:
    swarm, done = deployed(stack, filled_in, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")  # "Ignoring unsupported options" stands there, too
    assert swarm.services.keys() == {f"shop_{name}" for name in stack["services"]}
    published = {name for name, service in swarm.services.items() if service["EndpointSpec"].get("Ports")}
    assert published == {"shop_ingress"}


def test_a_process_is_confined_and_updated_one_by_one(
    stack: dict[str, Any], filled_in: dict[str, str], tmp_path: Path
) -> None:
    swarm, _ = deployed(stack, filled_in, tmp_path)
    for name in (f"shop_{service}-{kind}" for service in SERVICES for kind in KINDS):
        service = swarm.services[name]
        container = service["TaskTemplate"]["ContainerSpec"]
        assert (container["ReadOnly"], container["CapabilityDrop"]) == (True, ["ALL"])
        assert container["Mounts"] == [{"Type": "tmpfs", "Target": "/tmp"}]
        assert (service["UpdateConfig"]["Order"], service["UpdateConfig"]["FailureAction"]) == (
            "start-first",
            "rollback",
        )
        assert service["Mode"] == {"Replicated": {"Replicas": 2}}


def test_steps_that_end_are_jobs_as_swarm_takes_them(
    stack: dict[str, Any], filled_in: dict[str, str], tmp_path: Path
) -> None:
    swarm, _ = deployed(first_part(stack), filled_in, tmp_path)
    jobs = {name: service for name, service in swarm.services.items() if "ReplicatedJob" in service["Mode"]}
    assert len(jobs) == 5
    for job in jobs.values():
        assert "UpdateConfig" not in job  # Swarm refuses one with it
        assert job["TaskTemplate"]["RestartPolicy"]["Condition"] == "on-failure"


def test_a_secret_that_nobody_made_ends_the_deploy_with_its_name(
    stack: dict[str, Any], filled_in: dict[str, str], tmp_path: Path
) -> None:
    swarm, done = deployed(stack, filled_in, tmp_path, without="fencepost-redis-password")
    assert done.returncode != 0
    assert "fencepost-redis-password" in done.stderr
    assert swarm.services == {}
