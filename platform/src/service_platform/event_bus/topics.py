"""Which topic carries whose events."""

from __future__ import annotations


def topic_of(source: str) -> str:
    """The topic that service `source` publishes to."""
    return f"events.{source}"
