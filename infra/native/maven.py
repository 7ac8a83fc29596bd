"""Asks a Maven registry, through jgo, for jars, or for what they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from .errors import StackError
from .jars import Jar, JarLock

with warnings.catch_warnings():
    # On a machine without a login session jgo complains about a folder that it does not use here.
    warnings.simplefilter("ignore")
    from jgo.config import GlobalSettings
    from jgo.env import LockFile
    from jgo.maven import MavenContext


def write_lock(lock: JarLock, cache: Path, programs: Sequence[str], *, alone: Sequence[str] = ()) -> int:
    """Resolve the dependencies of `programs` (coordinates) anew and write `lock`. Returns the number of jars.

    What is in `alone` is taken by itself, without its dependencies: resolved together, its parent would decide the
    versions of the programs' own modules.
    """
    context = _context(cache)
    roots, transitive = context.resolver.resolve([context.create_dependency(program) for program in programs])
    wanted = [*roots, *(d for d in transitive if d.scope in ("compile", "runtime"))]
    wanted += [context.create_dependency(single) for single in alone]
    wanted.sort(key=lambda dependency: (dependency.groupId, dependency.artifactId))
    LockFile.from_resolved_dependencies(wanted).save(lock.path)
    return len(wanted)


def download(cache: Path, jars: Iterable[Jar]) -> None:
    """Put `jars` into `cache`. Their checksums are the caller's to compare.

    Raises:
        StackError: one could not be had.
    """
    context = _context(cache)
    wanted = [context.create_dependency(jar.coordinate) for jar in jars]
    try:
        with ThreadPoolExecutor(max_workers=8) as pool:
            list(pool.map(lambda dependency: dependency.artifact.resolve(), wanted))
    except (requests.RequestException, RuntimeError) as error:
        raise StackError(
            f"jars could not be fetched: {error}",
            "Check the network (a Maven registry is needed once; jgo's own settings file can name a mirror) and run "
            "it again: what has arrived is kept.",
        ) from error


def _context(cache: Path) -> MavenContext:
    mirrors = GlobalSettings.load().repositories
    return MavenContext(repo_cache=cache, remote_repos=mirrors or None, timeout=60)
