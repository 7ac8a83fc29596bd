"""Each rule for CI, with a violation planted as somebody in a hurry would make it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy_lint import ci_breaches
from native.layout import ROOT
from stack import Lock

CHECKS = ".github/workflows/checks.yaml"
IMAGES = ".github/workflows/images.yaml"
ZIZMOR = Path(sys.executable).with_name("zizmor")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the rules read."""
    copied = ["Makefile", "docker-compose.yaml", "infra/image/dockerfiles.py"]
    copied += [
        str(path.relative_to(ROOT)) for path in [*ROOT.glob("services/*/Dockerfile"), *ROOT.glob("infra/**/Dockerfile")]
    ]
    for path in copied:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    return tmp_path


def jobs(path: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / path).read_text())["jobs"]
    return read


def plant(tree: Path, path: str, found: str, planted: str) -> list[str]:
    text = (tree / path).read_text()
    assert found in text
    (tree / path).write_text(text.replace(found, planted, 1))
    return [str(breach) for breach in ci_breaches(tree)]


def test_ci_keeps_every_rule(tree: Path) -> None:
    assert ci_breaches(tree) == []
    assert ci_breaches() == []


@pytest.mark.parametrize(
    ("path", "found", "planted", "said"),
    [
        (CHECKS, "make lint types", "make lint typing", "`make typing`, which the Makefile does not know"),
        (CHECKS, "run: make down", "run: make stop", "`make stop`"),
        (CHECKS, "{ echo '```'; make scenarios", "{ echo '```'; make scenarioss", "`make scenarioss`"),
        (CHECKS, "make replay N=200", "make repaly N=200", "`make repaly`"),
        ("Makefile", "\nchaos: setup", "\nstorm: setup", "`make chaos`"),
        (CHECKS, " # v7.0.1", "", "is not by commit with its version behind it"),
        (CHECKS, "@3d3c42e5aac5ba805825da76410c181273ba90b1", "@v7", "is not by commit"),
        (CHECKS, "    timeout-minutes: 60\n", "", "checks.yaml tests: it may run for six hours"),
        (IMAGES, "infra/image/dockerfiles.py", "infra/image/list.py", "no matrix builds what the tree has"),
        (".github/dependabot.yml", ", /services/billing", "", "newer images of services/billing/Dockerfile"),
        ("docker-compose.yaml", "    build: infra/db\n", "", "the compose file nothing"),
        ("docker-compose.yaml", "fencepost/edges\n    build", "fencepost/rim\n    build", "'name': 'rim'"),
    ],
)  # fmt: skip
def test_a_planted_violation_is_caught(tree: Path, path: str, found: str, planted: str, said: str) -> None:
    caught = plant(tree, path, found, planted)
    assert any(said in breach for breach in caught), caught


def test_all_matrices_of_images_have_to_go_before_it_is_told(tree: Path) -> None:
    text = (tree / IMAGES).read_text().replace("${{ fromJSON(needs.list.outputs.images) }}", "[{name: order}]")
    (tree / IMAGES).write_text(text)
    assert any("no matrix builds" in str(breach) for breach in ci_breaches(tree))


def test_a_new_dockerfile_is_built_or_told_of(tree: Path) -> None:
    (tree / "services/refunds").mkdir()
    (tree / "services/refunds/Dockerfile").touch()
    told = [str(breach) for breach in ci_breaches(tree)]
    assert any("services/refunds/Dockerfile: CI builds" in breach for breach in told)
    assert any("nobody looks for newer images of services/refunds" in breach for breach in told)


@pytest.mark.parametrize(
    ("path", "found", "planted", "said"),
    [
        (CHECKS, "          persist-credentials: false\n", "", "artipacked"),
        (CHECKS, "permissions:\n  contents: read", "permissions: write-all", "excessive-permissions"),
        (CHECKS, "run: make up", "run: make up SCALE=${{ github.head_ref }}", "template-injection"),
    ],
)
def test_what_is_unsafe_is_told_by_zizmor(tree: Path, path: str, found: str, planted: str, said: str) -> None:
    plant(tree, path, found, planted)
    command = [str(ZIZMOR), "--offline", "--quiet", "--no-progress", "--persona", "pedantic", str(tree / ".github")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert said in done.stdout


def test_the_lock_that_a_release_hands_out_is_one(tmp_path: Path) -> None:
    """The two scripts of the workflow, with the digest that a build would say."""
    steps = [step for name in ("publish", "lock") for step in jobs(IMAGES)[name]["steps"]]
    (push,) = [step["run"] for step in steps if "built.json" in step.get("run", "")]
    (join,) = [step["run"] for step in steps if "images:/q" in step.get("run", "")]
    (tmp_path / "infra").symlink_to(ROOT / "infra")
    (tmp_path / "docker").write_text("#!/bin/sh\n")
    (tmp_path / "docker").chmod(0o755)
    digest = f"sha256:{'a1' * 32}"
    (tmp_path / "built.json").write_text(json.dumps({"containerimage.digest": digest}))
    for name in ("order", "db"):
        told = {
            "NAME": name,
            "REGISTRY": "registry.example/Shop",
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        }
        told |= {"DOCKERFILE": "x", "CONTEXT": ".", "GITHUB_REF_NAME": "v1"}
        subprocess.run(["bash", "-e", "-c", push], cwd=tmp_path, env=told, check=True)
    subprocess.run(["bash", "-e", "-c", join], cwd=tmp_path, check=True, capture_output=True)
    assert Lock.read(tmp_path / "images.lock.yaml").images == {
        "fencepost/db": f"registry.example/shop/db@{digest}",
        "fencepost/order": f"registry.example/shop/order@{digest}",
    }
