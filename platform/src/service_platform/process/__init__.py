"""Running a process of the suite: its loop, its signals, its bounded end."""

from .runner import Body, run_process, run_together

__all__ = ["Body", "run_process", "run_together"]
