"""The jars that the broker is."""

from __future__ import annotations

from pathlib import Path

from .jars import JarLock

KAFKA_JARS = JarLock(Path(__file__).with_name("kafka.lock.toml"))

BROKER = "org.apache.kafka:kafka_2.13:4.3.1"
# Kafka logs through SLF4J and its own package adds this binding beside its dependencies; without it, it is silent.
LOG_BINDING = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"
