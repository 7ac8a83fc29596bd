"""Asks a Maven registry, through jgo, for Kafka's jars, or for what they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from .errors import StackError
from .kafka_jars import LOCK, Jar

with warnings.catch_warnings():
    # On a machine without a login session jgo complains about a folder that it does not use here.
    warnings.simplefilter("ignore")
    from jgo.config import GlobalSettings
    from jgo.env import LockFile
    from jgo.maven import MavenContext

_BROKER = "org.apache.kafka:kafka_2.13:4.3.1"
# Kafka logs through SLF4J and its own package adds this binding beside its dependencies; without it, it is silent.
_LOG_BINDING = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"


def write_lock(cache: Path) -> int:
    """Resolve the broker's dependencies anew and write `LOCK`. Returns the number of jars."""
    context = _context(cache)
    roots, transitive = context.resolver.resolve([context.create_dependency(_BROKER)])
    # The binding is taken by itself: resolved together, its parent would decide the versions of Kafka's own modules.
    binding = context.create_dependency(_LOG_BINDING)
    wanted = [*roots, *(d for d in transitive if d.scope in ("compile", "runtime")), binding]
    wanted.sort(key=lambda dependency: (dependency.groupId, dependency.artifactId))
    LockFile.from_resolved_dependencies(wanted).save(LOCK)
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
            f"Kafka's jars could not be fetched: {error}",
            "Check the network (a Maven registry is needed once; jgo's own settings file can name a mirror) and run "
            "it again: what has arrived is kept.",
        ) from error


def _context(cache: Path) -> MavenContext:
    mirrors = GlobalSettings.load().repositories
    return MavenContext(repo_cache=cache, remote_repos=mirrors or None, timeout=60)
