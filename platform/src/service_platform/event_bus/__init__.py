"""Events between services: typed classes, published through the outbox, consumed once each. Kafka is only here."""

from . import headers
from .bus import EventBus
from .consumer import Consumer, Delivery
from .engine import ConsumerEngine
from .errors import NotThisServicesEvent, UnencodableEvent
from .event import Event
from .kafka_sink import KafkaSink
from .topics import topic_of

__all__ = [
    "Consumer",
    "ConsumerEngine",
    "Delivery",
    "Event",
    "EventBus",
    "KafkaSink",
    "NotThisServicesEvent",
    "UnencodableEvent",
    "headers",
    "topic_of",
]
