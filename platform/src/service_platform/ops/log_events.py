"""What operator actions log."""

from service_platform.telemetry import LogEvent


class OpsLogEvent(LogEvent):
    ACTION_DONE = "ops.action.done"
    ACTION_REFUSED = "ops.action.refused"
    ACTION_FAILED = "ops.action.failed"
    AUDIT_FAILED = "ops.audit.failed"
