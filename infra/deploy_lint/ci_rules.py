"""What holds for the files of CI. What is unsafe in a workflow is zizmor's affair, which `make lint` runs, too."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from native.layout import ROOT
from rules import Breach

LISTS_IMAGES: Final = "infra/image/dockerfiles.py"
"""What makes the matrix of images, from the tree."""

_WORKFLOWS = Path(".github/workflows")
_DEPENDABOT = Path(".github/dependabot.yml")
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
_MAKE = re.compile(r"(?:^|[;&|{]|\bthen\b|\w=\S*)\s*make((?:\s+[\w-]+(?:=\S+)?)+)", re.MULTILINE)
_PIN = re.compile(r"@[0-9a-f]{40} # v\d+(\.\d+)*$")


def ci_breaches(root: Path = ROOT) -> list[Breach]:
    """Every broken rule of `root`'s workflows and of what keeps its dependencies new."""
    texts = {str(path.relative_to(root)): path.read_text() for path in sorted((root / _WORKFLOWS).glob("*.yaml"))}
    images = _listed(root)
    compose = yaml.safe_load((root / "docker-compose.yaml").read_text())
    breaches = [
        *images_are_those_of_compose(images, compose),
        *every_dockerfile_gets_updates(images, yaml.safe_load((root / _DEPENDABOT).read_text())),
        *some_matrix_builds_them_all(texts),
    ]
    targets = set(_TARGET.findall((root / "Makefile").read_text()))
    for path, text in texts.items():
        breaches += [
            *make_knows_what_is_called(path, text, targets),
            *actions_say_their_version(path, text),
            *every_job_ends(path, text),
        ]
    return breaches


def make_knows_what_is_called(path: str, text: str, targets: set[str]) -> Iterator[Breach]:
    for script in _scripts(text):
        for words in _MAKE.findall(script):
            for called in (word for word in words.split() if "=" not in word):
                if called not in targets:
                    yield Breach(path, f"it calls `make {called}`, which the Makefile does not know", "Mend the name.")


def actions_say_their_version(path: str, text: str) -> Iterator[Breach]:
    for line in text.splitlines():
        if "uses:" in line and not _PIN.search(line):
            yield Breach(
                path,
                f"`{line.strip()}` is not by commit with its version behind it",
                "Write owner/action@<40 hex digits> # v1.2.3: the commit for the machine, the version for people.",
            )


def every_job_ends(path: str, text: str) -> Iterator[Breach]:
    for name, job in yaml.safe_load(text)["jobs"].items():
        if "timeout-minutes" not in job:
            yield Breach(f"{path} {name}", "it may run for six hours", "Give it timeout-minutes.")


def some_matrix_builds_them_all(texts: Mapping[str, str]) -> Iterator[Breach]:
    for text in texts.values():
        jobs = yaml.safe_load(text)["jobs"]
        listing = {name for name, job in jobs.items() if any(LISTS_IMAGES in script for script in _runs(job))}
        matrices = [str(job.get("strategy", {}).get("matrix", {}).get("image", "")) for job in jobs.values()]
        if any(f"fromJSON(needs.{name}." in matrix for name in listing for matrix in matrices):
            return
    yield Breach(
        str(_WORKFLOWS),
        "no matrix builds what the tree has",
        f"Let a job's matrix be fromJSON of the output of a job that runs {LISTS_IMAGES}.",
    )


def images_are_those_of_compose(images: list[dict[str, str]], compose: Mapping[str, Any]) -> Iterator[Breach]:
    built = {}
    for service in compose["services"].values():
        if build := service.get("build"):
            build = {"context": build} if isinstance(build, str) else build
            context = build["context"]
            dockerfile = build.get("dockerfile", f"{context}/Dockerfile")
            built[dockerfile] = {
                "name": service["image"].partition("/")[2],
                "dockerfile": dockerfile,
                "context": context,
            }
    listed = {image["dockerfile"]: image for image in images}
    for dockerfile in sorted(listed.keys() | built.keys()):
        here, there = listed.get(dockerfile, "nothing"), built.get(dockerfile, "nothing")
        if here != there:
            yield Breach(
                dockerfile,
                f"CI builds {here} of it, the compose file {there}",
                f"Let {LISTS_IMAGES} and docker-compose.yaml say the same.",
            )


def every_dockerfile_gets_updates(images: list[dict[str, str]], dependabot: Mapping[str, Any]) -> Iterator[Breach]:
    watched = {
        folder.strip("/")
        for update in dependabot["updates"]
        if update["package-ecosystem"] == "docker"
        for folder in update.get("directories", [update.get("directory", "")])
    }
    for image in images:
        folder = image["dockerfile"].rpartition("/")[0]
        if folder not in watched:
            yield Breach(str(_DEPENDABOT), f"nobody looks for newer images of {image['dockerfile']}", f"Add /{folder}.")


def _listed(root: Path) -> list[dict[str, str]]:
    command = [sys.executable, "-I", str(root / LISTS_IMAGES)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    images: list[dict[str, str]] = json.loads(done.stdout)
    return images


def _scripts(text: str) -> Iterator[str]:
    for job in yaml.safe_load(text)["jobs"].values():
        yield from _runs(job)


def _runs(job: Mapping[str, Any]) -> Iterator[str]:
    for step in job["steps"]:
        yield step.get("run", "")
