"""What the outbox logs."""

from __future__ import annotations

from service_platform.telemetry import LogEvent


class OutboxLogEvent(LogEvent):
    RELAY_CONNECTED = "outbox.relay.connected"
    DATABASE_LOST = "outbox.relay.database_lost"
    BATCH_SENT = "outbox.batch.sent"
    SINK_UNAVAILABLE = "outbox.sink.unavailable"
    SINK_RECOVERED = "outbox.sink.recovered"
    ROW_SUSPECTED = "outbox.row.suspected"
    ROW_REFUSED = "outbox.row.refused"
    ROW_PARKED = "outbox.row.parked"
    WAKE_UP_LOST = "outbox.wake_up.database_lost"
