"""What is measured, one file a measurement, in the order of a whole run."""

from __future__ import annotations

from collections.abc import Mapping

from . import consuming, job_statements, jobs, relay_drain, relay_idle, relay_kill, relay_latency
from .measurement import Column, Measurement

MEASUREMENTS: Mapping[str, Measurement] = {
    module.MEASUREMENT.name: module.MEASUREMENT
    for module in (relay_drain, relay_latency, consuming, jobs, job_statements, relay_idle, relay_kill)
}

__all__ = ["MEASUREMENTS", "Column", "Measurement"]
