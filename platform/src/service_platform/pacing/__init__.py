"""Waiting in loops that must stop at once, and pauses that grow."""

from .waiting import Backoff, passed_on, wait_for_any

__all__ = ["Backoff", "passed_on", "wait_for_any"]
