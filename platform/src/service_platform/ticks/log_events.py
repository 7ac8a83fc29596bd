"""What this module logs."""

from __future__ import annotations

from service_platform.telemetry import LogEvent


class TickLogEvent(LogEvent):
    """Names of the log lines about ticks."""

    BEGUN = "jobs.tick.begun"
    FIRED = "jobs.tick.fired"
    MISSED = "jobs.tick.missed"
    FAILED = "jobs.tick.failed"
    LOOK_FAILED = "jobs.tick.look_failed"
