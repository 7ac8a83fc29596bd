"""References to images, as compose files and Dockerfiles write them."""

from __future__ import annotations

import re

OWN = "fencepost/"
DATABASE = f"{OWN}db"

PIN_MEND = "Write name:tag@sha256:<digest>: the tag says to people what it is, the digest to the engine."

_PINNED = re.compile(r"^[a-z0-9./_-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}$")
_DATABASES = re.compile(r"(^|/)(postgres|postgis|pgvector|timescaledb)(:|@|$)")


def is_own(image: str) -> bool:
    """Whether the project builds it."""
    return image.startswith(OWN)


def is_pinned(image: str) -> bool:
    """Whether it names one image for ever: by tag and digest."""
    return _PINNED.match(image) is not None


def is_foreign_database(image: str) -> bool:
    """Whether it is a PostgreSQL that is not the project's own."""
    return not is_own(image) and _DATABASES.search(image) is not None
