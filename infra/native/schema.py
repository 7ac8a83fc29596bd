"""Databases, roles and tables: the bootstrap, then each service's own migrations, as its owner role."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from .errors import StackError
from .layout import ROOT
from .sources import fingerprint
from .topology import SERVICES, Topology

_BOOTSTRAP = ROOT / "infra" / "db" / "bootstrap.sql"


def bootstrap(topology: Topology) -> None:
    """Make the databases and roles, or bring them to what is declared."""
    done = topology.postgres.psql(["--file", str(_BOOTSTRAP)], environment=topology.bootstrap_env())
    if done.returncode != 0:
        raise StackError(f"{_BOOTSTRAP.name} failed: {done.stderr.strip()}", "Read the log: make logs S=postgres")


def migrate(topology: Topology) -> list[str]:
    """Bring every service's database to its newest revision, all at once. Returns those where there was work to do."""
    with ThreadPoolExecutor(max_workers=len(SERVICES)) as pool:
        worked = pool.map(lambda service: _migrate(topology, service), SERVICES)
        return [service for service, did in zip(SERVICES, worked, strict=True) if did]


def _migrate(topology: Topology, service: str) -> bool:
    # Asking Alembic costs seconds, so it is asked only when the code or the revision is not what it was after it ran.
    stamp = topology.layout.run / f"migrated-{service}"
    code = fingerprint([ROOT / "services" / service, ROOT / "platform" / "src"])
    if stamp.exists() and stamp.read_text(encoding="utf-8") == f"{code} {_revision(topology, service)}":
        return False
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
    stamp.write_text(f"{code} {_revision(topology, service)}", encoding="utf-8")
    return True


def _revision(topology: Topology, service: str) -> str:
    query = ["--dbname", f"{service}_db", "--command", "SELECT version_num FROM alembic_version"]
    return topology.postgres.psql(query).stdout.strip()
