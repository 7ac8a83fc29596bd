"""A small git repository with contracts in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from service_platform.contracts import EventContract, contracts_text

# Nothing of this person's git: no signing, no hooks, no other default branch.
_ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "test",
    "GIT_AUTHOR_EMAIL": "test@example.com",
    "GIT_COMMITTER_NAME": "test",
    "GIT_COMMITTER_EMAIL": "test@example.com",
}


class Repository:
    """The repository at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.contracts = root / "contracts"

    @classmethod
    def started_in(cls, root: Path) -> Repository:
        """A new one on branch `main`, with what lies there as its first commit."""
        repository = cls(root)
        repository.git("init", "--quiet", "--initial-branch", "main")
        repository.commit()
        return repository

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.root, env=_ENV, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self) -> str:
        """Commit all that lies there."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")

    def write(self, contracts: Iterable[EventContract]) -> None:
        path = self.contracts / "order" / "events.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contracts_text(contracts), encoding="utf-8")

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} does not have {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")
