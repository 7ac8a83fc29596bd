"""Prints the images that this tree builds, as the JSON that CI's matrix is made of: `python dockerfiles.py`.

One for each Dockerfile: a service's, the database's, and that of what stands around them. Run by CI before anything is
installed, on nothing but the standard library; `make lint` holds it against docker-compose.yaml.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_OWN_CONTEXT = {"infra/db"}
_NAMES = {"infra": "edges"}


def images(root: Path) -> list[dict[str, str]]:
    """`name`, `dockerfile` and `context` of each, by name. A Dockerfile names its image by its folder."""
    files = [*root.glob("services/*/Dockerfile"), *root.glob("infra/**/Dockerfile")]
    found = []
    for file in files:
        folder = file.parent.relative_to(root).as_posix()
        found.append(
            {
                "name": _NAMES.get(folder, file.parent.name),
                "dockerfile": file.relative_to(root).as_posix(),
                "context": folder if folder in _OWN_CONTEXT else ".",
            }
        )
    return sorted(found, key=lambda image: image["name"])


if __name__ == "__main__":
    print(json.dumps(images(ROOT)))
