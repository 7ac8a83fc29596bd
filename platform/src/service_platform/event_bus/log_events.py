"""What the event bus logs."""

from __future__ import annotations

from service_platform.telemetry import LogEvent


class EventBusLogEvent(LogEvent):
    PRODUCER_BROKEN = "event_bus.producer.broken"
    PRODUCER_REPLACED = "event_bus.producer.replaced"
    MEMBER_REPLACED = "event_bus.member.replaced"
    PARTITIONS_ASSIGNED = "event_bus.partitions.assigned"
    PARTITIONS_REVOKED = "event_bus.partitions.revoked"
    PARTITIONS_LOST = "event_bus.partitions.lost"
    WORK_ABANDONED = "event_bus.work.abandoned"
    OFFSETS_NOT_COMMITTED = "event_bus.offsets.not_committed"
    BROKER_TROUBLED = "event_bus.broker.troubled"
    EVENT_HANDLED = "event_bus.event.handled"
    EVENT_KNOWN = "event_bus.event.already_handled"
    EVENT_DEFERRED = "event_bus.event.behind_a_retry"
    EVENT_BURIED = "event_bus.event.buried"
    CONSUMER_UNKNOWN = "event_bus.wake_up.consumer_unknown"
    HANDLER_FAILED = "event_bus.handler.failed"
    FAILURE_NOT_RECORDED = "event_bus.handler.failure_not_recorded"
    DATABASE_TROUBLED = "event_bus.handler.database_troubled"
    MESSAGE_BURIED = "event_bus.message.buried"
