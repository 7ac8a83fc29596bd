"""The public peers, installed by the bench: into environments of their own, by a lock with checksums."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from native.layout import ROOT

from .settings import BenchSettings

LOCK = Path(__file__).with_name("peers.lock")

_NEWER = (3, 13)
_INSTALL_SECONDS = 300.0


class PeerMissing(Exception):
    """A peer cannot take part on this machine now; `str()` says why."""


class Peers:
    """The Python environments that peers run in: one of the suite's own Python, one of a newer one if there is any.

    They are made when first asked for and made anew when the lock or the Python has changed.
    """

    def __init__(self, settings: BenchSettings, *, say: Callable[[str], None] = lambda _: None) -> None:
        self._settings = settings
        self._say = say
        self._tried: dict[str, str | PeerMissing] = {}

    def python(self, *, newer: bool = False) -> str:
        """The interpreter that has the peers installed; with `newer` one of Python 3.13 or later.

        Raises:
            PeerMissing: there is no such Python, or the packages cannot be had.
        """
        name = "peers-newer" if newer else "peers"
        if name not in self._tried:
            try:
                base = _newer_python(self._settings.other_python) if newer else sys.executable
                self._tried[name] = self._environment(self._settings.state_dir / name, base)
            except PeerMissing as missing:
                self._tried[name] = missing
        found = self._tried[name]
        if isinstance(found, PeerMissing):
            raise found
        return found

    def _environment(self, folder: Path, base: str) -> str:
        python, stamp = folder / "bin" / "python", folder / "fencepost-stamp"
        wanted = f"{base}\n{LOCK.read_text(encoding='utf-8')}"
        if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return str(python)
        self._say(f"installing the peers into {folder.name}")
        _uv("venv", "--clear", "--python", base, str(folder))
        _uv("pip", "sync", "--require-hashes", "--python", str(python), str(LOCK))
        stamp.write_text(wanted, encoding="utf-8")
        return str(python)


def _uv(*arguments: str) -> None:
    command = [str(Path(sys.executable).parent / "uv"), *arguments, "--quiet"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise PeerMissing(f"its packages were not installed within {_INSTALL_SECONDS:.0f} s") from error
    if done.returncode != 0:
        reason = " ".join(done.stderr.split())
        raise PeerMissing(f"its packages cannot be installed here: {reason[-300:]}")


def _newer_python(named: str) -> str:
    for candidate in _candidates(named):
        check = f"import sys; sys.exit(sys.version_info < {_NEWER})"
        if subprocess.run([candidate, "-c", check], capture_output=True, check=False).returncode == 0:
            return candidate
    version = ".".join(map(str, _NEWER))
    raise PeerMissing(f"it needs Python {version}, and none is here: FENCEPOST_BENCH_OTHER_PYTHON can name one")


def _candidates(named: str) -> Iterator[str]:
    if named:
        yield named
        return
    yield sys.executable
    for name in ("python3.14", "python3.13", "python3"):
        if found := shutil.which(name):
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for path in sorted((pyenv / "versions").glob("3.1[3-9].*/bin/python"), reverse=True):
        yield str(path)
