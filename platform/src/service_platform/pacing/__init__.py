"""Waiting in loops that must stop at once, and pauses that grow."""

from .waiting import Backoff, wait_for_any

__all__ = ["Backoff", "wait_for_any"]
