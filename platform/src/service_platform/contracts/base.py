"""What a change is compared with: the contracts as the others have them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .contract import FILE_NAME, EventContract, parse_contracts, read_contracts

Contracts = Mapping[str, Sequence[EventContract]]

_MAIN_LINES = ("main@{upstream}", "origin/HEAD", "main")
_SET_BY_HOOKS = {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"}  # relative to where the hook runs


class NoSuchBase(Exception):
    """What was asked for is neither a folder nor a revision that shares history with this one."""


@dataclass(frozen=True)
class Base:
    """The contracts as they were, by service. `origin` says in words which, or why there are none to compare with."""

    contracts: Contracts
    origin: str


def find_base(folder: Path, now: Contracts, asked: str = "") -> Base:
    """What `now`, the contracts of this moment, shall be compared with.

    `asked` is a folder of contracts or a git revision; empty, it is the main line: the upstream of `main`, or `main`
    itself. A branch is compared with where it left that line, so it may still change what it has added. What stands on
    the line itself is compared with the last commit and, if nothing has changed since, with where the line stood before
    its contracts became what they are. A fresh clone does not know that, so CI names its base after a merge.

    Raises `NoSuchBase`.
    """
    if asked and Path(asked).is_dir():
        return Base(read_contracts(Path(asked)), f"the folder {asked}")
    git = _Git(folder)
    head = git.commit("HEAD")
    if asked and git.commit(asked) is None:
        raise NoSuchBase(f"{asked} is neither a folder nor a revision of the repository of {folder}")
    if head is None:
        git.check()
        return Base({}, f"nothing, since {folder} lies in no git repository with a commit")
    line = asked or next((line for line in _MAIN_LINES if git.commit(line)), "HEAD")
    fork = git.run("merge-base", "HEAD", line)
    if fork is None:
        raise NoSuchBase(f"HEAD and {line} have no commit in common: fetch more history, or name another base")
    if fork != head:
        return Base(git.contracts(fork), f"where this branch left {line} ({fork[:10]})")
    committed = git.contracts(head)
    if any(committed.get(service, []) != list(contracts) for service, contracts in now.items()):
        return Base(committed, f"the last commit ({head[:10]})")
    before = git.before_last_change(line)
    if before is None:
        return Base(
            {},
            f"nothing: they are as in the last commit, and git knows no earlier ones of {line} here. To compare them "
            "with a revision, say CONTRACTS_BASE=<revision>",
        )
    return Base(git.contracts(before), f"where {line} stood before their last change ({before[:10]})")


class _Git:
    """The repository that `folder` lies in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self) -> None:
        """Raises `NoSuchBase` if there is a repository that git does not open, whoever may own it."""
        is_there = any((folder / ".git").exists() for folder in (self._folder, *self._folder.parents))
        if is_there and self.run("rev-parse", "--git-dir") is None:
            raise NoSuchBase(f"git does not open the repository of {self._folder}: see what `git status` says there")

    def run(self, *arguments: str) -> str | None:
        """What git answers; None if it refuses, or there is no git."""
        try:
            done = subprocess.run(  # noqa: S603 - fixed words and revisions, no shell
                ["git", *arguments],  # noqa: S607 - whichever git the person uses
                cwd=self._folder,
                env={name: value for name, value in os.environ.items() if name not in _SET_BY_HOOKS},
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
            )
        except OSError:
            return None
        return done.stdout.rstrip("\n") if done.returncode == 0 else None

    def commit(self, revision: str) -> str | None:
        return self.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")

    def before_last_change(self, line: str) -> str | None:
        """The last place of `line` at which the folder was another, by its reflog.

        Not the parent of a commit: the commits of one merge or push are one change, and what one of them added another
        may have changed before anybody had it. Places that were abandoned (an amended commit) do not count.
        """
        name = self.run("rev-parse", "--symbolic-full-name", line)
        places = (self.run("log", "--walk-reflogs", "--format=%H", name) if name else None) or ""
        first = self.commit(f"{name}@{{{len(places.split())}}}") or ""  # where the oldest entry came from
        for place in [*places.split(), *first.split()]:
            is_past = self.run("merge-base", "--is-ancestor", place, "HEAD") is not None
            if is_past and self.run("diff", "--quiet", place, "HEAD", "--", ".") is None:
                return place
        return None

    def contracts(self, commit: str) -> dict[str, list[EventContract]]:
        """The contracts in the folder as they were in `commit`."""
        found = {}
        for entry in (self.run("ls-tree", "--name-only", commit, "./") or "").splitlines():
            text = self.run("show", f"{commit}:./{entry}/{FILE_NAME}")
            if text is not None:
                found[entry] = parse_contracts(text, entry, f"{self._folder.name}/{entry}/{FILE_NAME}")
        return found
