"""What the event bus logs."""

from __future__ import annotations

from service_platform.telemetry import LogEvent


class EventBusLogEvent(LogEvent):
    PRODUCER_BROKEN = "event_bus.producer.broken"
    PRODUCER_REPLACED = "event_bus.producer.replaced"
    PARTITIONS_ASSIGNED = "event_bus.partitions.assigned"
    PARTITIONS_REVOKED = "event_bus.partitions.revoked"
    PARTITIONS_LOST = "event_bus.partitions.lost"
    WORK_ABANDONED = "event_bus.work.abandoned"
    OFFSETS_NOT_COMMITTED = "event_bus.offsets.not_committed"
    BROKER_TROUBLED = "event_bus.broker.troubled"
    EVENT_HANDLED = "event_bus.event.handled"
    EVENT_KNOWN = "event_bus.event.already_handled"
    HANDLER_FAILED = "event_bus.handler.failed"
    DATABASE_TROUBLED = "event_bus.handler.database_troubled"
    MESSAGE_UNPARSABLE = "event_bus.message.unparsable"
