"""What holds for the project's Dockerfiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rules import Breach

from .images import PIN_MEND, is_pinned

_ROOT = frozenset({"", "root", "0", "0:0", "root:root"})
_BUILD_TOOLS = re.compile(r"\b(build-essential|gcc|g\+\+|make|cargo|git|curl|wget)\b")
_SECRET = re.compile(r"\b(ARG|ENV)\s+\S*(PASSWORD|SECRET|TOKEN|API_KEY)", re.IGNORECASE)


@dataclass(frozen=True)
class Dockerfile:
    """A Dockerfile's path in the repository and its instructions, each on one line."""

    path: str
    instructions: tuple[str, ...]

    @classmethod
    def read(cls, path: str, text: str) -> Dockerfile:
        """Parse `text`: comments go, continued lines are joined."""
        kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        joined = re.sub(r"\\\n\s*", " ", kept)
        return cls(path, tuple(line.strip() for line in joined.splitlines() if line.strip()))

    @property
    def last_stage(self) -> tuple[str, ...]:
        """What the finished image is made by."""
        starts = [at for at, line in enumerate(self.instructions) if line.upper().startswith("FROM ")]
        return self.instructions[starts[-1] :] if starts else ()

    def arguments(self, instruction: str, *, of: tuple[str, ...] | None = None) -> list[str]:
        """What stands behind each `instruction`."""
        lines = self.instructions if of is None else of
        return [line[len(instruction) :].strip() for line in lines if line.upper().startswith(f"{instruction} ")]


Rule = Callable[[Dockerfile], Iterator[Breach]]


def dockerfile_breaches(files: Mapping[str, str]) -> list[Breach]:
    """Every broken rule of these files: path in the repository to text."""
    parsed = [Dockerfile.read(path, text) for path, text in files.items()]
    return [breach for rule in RULES for file in parsed for breach in rule(file)] + list(services_differ_in_name(files))


def bases_are_pinned(file: Dockerfile) -> Iterator[Breach]:
    stages: set[str] = set()
    for source in file.arguments("FROM"):
        image, _, stage = (part.strip() for part in re.sub(r"--\S+\s+", "", source).partition(" AS "))
        if image not in stages and not is_pinned(image):
            yield Breach(file.path, f"it begins from {image}", PIN_MEND)
        stages.add(stage)


def it_does_not_run_as_root(file: Dockerfile) -> Iterator[Breach]:
    users = file.arguments("USER", of=file.last_stage)
    if (users[-1] if users else "") in _ROOT:
        yield Breach(file.path, "its processes run as root", "End with USER and an id that owns nothing, like 10001.")


def it_says_how_it_is(file: Dockerfile) -> Iterator[Breach]:
    if "infra/db" not in file.path and not file.arguments("HEALTHCHECK", of=file.last_stage):
        yield Breach(file.path, "it has no HEALTHCHECK", 'Add CMD ["python", "-I", "/app/healthcheck.py"] as one.')


def no_build_tools_are_left(file: Dockerfile) -> Iterator[Breach]:
    for command in file.arguments("RUN", of=file.last_stage):
        if found := _BUILD_TOOLS.search(command):
            yield Breach(
                file.path, f"{found[0]} is in the finished image", "Use it in a stage of its own and copy what it made."
            )


def packages_come_by_hash(file: Dockerfile) -> Iterator[Breach]:
    for command in file.arguments("RUN"):
        for install in re.findall(r"pip (?:--python \S+ )?(?:install|wheel)[^&]*", command):
            if "--require-hashes" not in install and "--no-index" not in install:
                yield Breach(
                    file.path,
                    f"`{install.strip()}` takes whatever the index gives",
                    "Install from requirements.lock with --require-hashes --no-deps.",
                )


def nothing_secret_is_baked_in(file: Dockerfile) -> Iterator[Breach]:
    for line in file.instructions:
        if _SECRET.match(line):
            yield Breach(file.path, f"`{line[:60]}` stays in the image for ever", "Mount a secret at run time instead.")
        if line.upper().startswith("ADD "):
            yield Breach(file.path, f"`{line[:60]}` may fetch or unpack", "Use COPY.")


def services_differ_in_name(files: Mapping[str, str]) -> Iterator[Breach]:
    """Not a rule of one file: the services' Dockerfiles are one text."""
    texts = {
        path: text.replace(path.split("/")[1], "SERVICE_NAME")
        for path, text in files.items()
        if path.startswith("services/")
    }
    first = next(iter(texts.values()), "")
    for path, text in texts.items():
        if text != first:
            yield Breach(path, "it differs from its siblings in more than the service", "Change all of them alike.")


RULES: Final[tuple[Rule, ...]] = (
    bases_are_pinned,
    it_does_not_run_as_root,
    it_says_how_it_is,
    no_build_tools_are_left,
    packages_come_by_hash,
    nothing_secret_is_baked_in,
)
