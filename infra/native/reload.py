"""One service's API in the foreground, started anew when its code or the platform's changes."""

from __future__ import annotations

import os
import runpy
from collections.abc import Mapping
from pathlib import Path

import uvicorn
from uvicorn.supervisors.statreload import StatReload

from .layout import ROOT


class _RunModule:
    """What uvicorn's reloader starts in a new process: the service's own entry point, not a server of uvicorn's."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __call__(self, sockets: object) -> None:
        runpy.run_module(self._module, run_name="__main__", alter_sys=True)


def run_reloading(service: str, environment: Mapping[str, str]) -> None:
    """Run the API of `service` in `environment` until a signal."""
    os.environ.update(environment)
    folders: list[Path] = [ROOT / "services" / service / "src", ROOT / "platform" / "src"]
    config = uvicorn.Config(
        app=f"{service}_service.main.api", reload=True, reload_dirs=[str(folder) for folder in folders]
    )
    StatReload(config, target=_RunModule(f"{service}_service.main.api"), sockets=[]).run()
