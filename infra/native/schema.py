"""Databases, roles and tables: the bootstrap, then each service's own migrations, as its owner role."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from .errors import StackError
from .layout import ROOT
from .topology import SERVICES, Topology

_BOOTSTRAP = ROOT / "infra" / "db" / "bootstrap.sql"


def bootstrap(topology: Topology) -> None:
    """Make the databases and roles, or bring them to what is declared."""
    done = topology.postgres.psql(["--file", str(_BOOTSTRAP)], environment=topology.bootstrap_env())
    if done.returncode != 0:
        raise StackError(f"{_BOOTSTRAP.name} failed: {done.stderr.strip()}", "Read the log: make logs S=postgres")


def migrate(topology: Topology) -> None:
    """Bring every service's database to its newest revision, all at once."""
    with ThreadPoolExecutor(max_workers=len(SERVICES)) as pool:
        list(pool.map(lambda service: _migrate(topology, service), SERVICES))


def _migrate(topology: Topology, service: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "--config", "alembic.ini", "upgrade", "head"],
        cwd=ROOT / "services" / service,
        env=topology.migration_env(service),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise StackError(
            f"the migrations of {service} failed:\n{done.stderr.strip()[-2000:]}",
            f"They are in services/{service}/migrations; what had succeeded is kept.",
        )
