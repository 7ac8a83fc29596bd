"""Telling whether code has changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def fingerprint(sources: Iterable[Path]) -> str:
    """A digest of these files, and of all Python files in these folders."""
    content = hashlib.sha256()
    for source in sources:
        for path in sorted(source.rglob("*.py")) if source.is_dir() else [source]:
            content.update(os.fsencode(path))
            content.update(path.read_bytes())
    return content.hexdigest()
