"""Jars locked by name, version and checksum, fetched by their lock and by nothing else.

A lock is in jgo's own format and names no address: jgo asks the registry it is set up for.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import StackError


@dataclass(frozen=True)
class Jar:
    """A locked jar."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def coordinate(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    def path(self, cache: Path) -> Path:
        """Where it lies in `cache`, a Maven repository on disk."""
        folder = cache / self.group.replace(".", "/") / self.artifact / self.version
        return folder / f"{self.artifact}-{self.version}.jar"

    def is_right(self, cache: Path) -> bool:
        """Whether what lies there is what was locked."""
        with self.path(cache).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256


@dataclass(frozen=True)
class JarLock:
    """The jars of one program, as the file `path` says. `cache`, in all methods, is a Maven repository on disk."""

    path: Path

    def jars(self) -> list[Jar]:
        """What the lock says."""
        lock = tomllib.loads(self.path.read_text(encoding="utf-8"))
        return [
            Jar(entry["groupId"], entry["artifactId"], entry["version"], entry["sha256"])
            for entry in lock["dependencies"]
        ]

    def missing(self, cache: Path) -> list[Jar]:
        """What must be fetched before the program can run."""
        return [jar for jar in self.jars() if not jar.path(cache).exists()]

    def class_path(self, cache: Path) -> str:
        """All of them, for Java's -cp."""
        return ":".join(str(jar.path(cache)) for jar in self.jars())

    def fetch(self, cache: Path) -> None:
        """Have every locked jar in `cache`, with the right checksum.

        Raises:
            StackError: a jar cannot be had, or is not the one that was locked.
        """
        cache.mkdir(parents=True, exist_ok=True)
        with _alone(cache):
            wrong: list[Jar] = []
            # A broken download leaves a file behind: what does not match is fetched once more.
            for _ in range(2):
                if missing := self.missing(cache):
                    from .maven import download  # noqa: PLC0415 - jgo is slow to import and seldom needed

                    download(cache, missing)
                wrong = [jar for jar in self.jars() if not jar.is_right(cache)]
                if not wrong:
                    return
                for jar in wrong:
                    shutil.rmtree(jar.path(cache).parent)
        raise StackError(
            f"the checksum of {', '.join(jar.coordinate for jar in wrong)} is not the locked one, twice",
            f"Something between here and the registry changes files. Nothing was used; the lock is {self.path.name}.",
        )


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    with (cache / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
