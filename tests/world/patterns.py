"""Which service declares which pattern, from `[tool.fencepost]` of its pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def declared_by(pattern: str) -> list[str]:
    """The services that declare `pattern`, in alphabetical order."""
    services = []
    for file in sorted(ROOT.glob("services/*/pyproject.toml")):
        settings = tomllib.loads(file.read_text())["tool"]["fencepost"]
        if pattern in settings["patterns"]:
            services.append(file.parent.name)
    return services
