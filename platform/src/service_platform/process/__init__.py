"""Running a process of the suite: its loop, its signals, its bounded end."""

from .runner import run_process, run_together
from .work import Body, Work

__all__ = ["Body", "Work", "run_process", "run_together"]
