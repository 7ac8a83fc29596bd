"""What a process says about itself: JSON logs, correlation and trace ids that travel, a heartbeat."""

from .correlation import correlation_id, correlation_scope, new_correlation_id
from .heartbeat import Heartbeat, write_heartbeat
from .logs import LogEvent, Logger, configure_logging, get_logger
from .tracing import carrier, restore, span, trace_id

__all__ = [
    "Heartbeat",
    "LogEvent",
    "Logger",
    "carrier",
    "configure_logging",
    "correlation_id",
    "correlation_scope",
    "get_logger",
    "new_correlation_id",
    "restore",
    "span",
    "trace_id",
    "write_heartbeat",
]
