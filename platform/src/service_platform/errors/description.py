"""An error as a text that can be stored and shown."""

from __future__ import annotations

import traceback

_LONGEST = 2000


def describe(error: BaseException) -> str:
    """The error and where it was raised, as a text of at most 2,000 characters that PostgreSQL can hold."""
    text = storable(f"{type(error).__name__}: {error}")
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    if frames:
        text += storable(f"\nat {frames[-1].name} ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})")
    return text


def storable(text: str) -> str:
    """`text` without what neither a text column nor jsonb takes (NUL, half a surrogate pair), cut where it is long."""
    cleaned = text[:_LONGEST].replace("\0", "\N{REPLACEMENT CHARACTER}")
    return cleaned.encode("utf-8", "replace").decode()
