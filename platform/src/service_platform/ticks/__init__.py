"""Ticks: what a service does by the clock. Each is data; every replica of a scheduler fires, one wins a minute.

One more surface, for migrations only: `ticks.schema`. Operators see and start ticks by `ticks.operations`.
"""

from .cron import Cron, CronInvalid
from .firing import Firing, fire
from .run_now import TickAskedFor, TickUnknown, run_now
from .tick import JobTicks, MissedRuns, Tick, checked
from .ticker import Ticker

__all__ = [
    "Cron",
    "CronInvalid",
    "Firing",
    "JobTicks",
    "MissedRuns",
    "Tick",
    "TickAskedFor",
    "TickUnknown",
    "Ticker",
    "checked",
    "fire",
    "run_now",
]
