"""What the HTTP edge logs."""

from service_platform.telemetry import LogEvent


class HttpLogEvent(LogEvent):
    REQUEST_FINISHED = "http.request.finished"
    REQUEST_FAILED = "http.request.failed"
    TOKEN_REFUSED = "http.token.refused"  # noqa: S105 - a name
    KEYS_LOADED = "http.keys.loaded"
    KEYS_UNAVAILABLE = "http.keys.unavailable"
    RATE_LIMIT_OPEN = "http.rate_limit.open"
    NOT_READY = "http.not_ready"
