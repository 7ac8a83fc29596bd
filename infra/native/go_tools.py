"""Servers for tests that are Go programs: built once, at an exact version, into the project's folder of tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .layout import ROOT

_TOOLS = ROOT / ".fencepost" / "tools"
_BUILD_SECONDS = 900


class NoGo(Exception):
    """Go is not installed, which would build the program."""


class GoBuildFailed(Exception):
    """Go is here and could not build the program; the text says why."""


@dataclass(frozen=True)
class GoTool:
    """The program that `go install <package>@<version>` makes."""

    name: str
    package: str
    version: str

    def program(self) -> Path:
        """Where it lies, built if it does not yet: a minute or two on two cores.

        Raises:
            NoGo: it is not there, and neither is Go.
            GoBuildFailed: Go refused.
        """
        program = _TOOLS / f"{self.name}-{self.version}"
        if not program.exists():
            self._build(program)
        return program

    def _build(self, program: Path) -> None:
        go = shutil.which("go")
        if go is None:
            raise NoGo(f"Go is not installed, which builds {self.name}")
        draft = _TOOLS / f"build-{self.name}-{os.getpid()}"
        draft.mkdir(parents=True)
        try:
            built = subprocess.run(
                [go, "install", f"{self.package}@{self.version}"],
                env=os.environ | {"GOBIN": str(draft)},
                capture_output=True,
                text=True,
                timeout=_BUILD_SECONDS,
                check=False,
            )
            if built.returncode != 0:
                raise GoBuildFailed(f"`go install {self.package}@{self.version}`: {built.stderr.strip()[-500:]}")
            (draft / self.package.rpartition("/")[2]).replace(program)  # Go names it after its package's last part
        finally:
            shutil.rmtree(draft)
