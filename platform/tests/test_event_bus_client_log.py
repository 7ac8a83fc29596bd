"""What the Kafka client says of a broker that is away: something, and not with every try."""

from __future__ import annotations

import logging

import pytest
from confluent_kafka import Producer

from service_platform.event_bus.client_log import CLIENT_LOG, OncePerSubject
from world.waiting import eventually


def line(subject: str, text: str) -> logging.LogRecord:
    return logging.LogRecord("librdkafka", logging.ERROR, "", 0, "%s [%s] %s", (subject, "client", text), None)


def test_a_subject_is_heard_once_in_ten_seconds_and_others_beside_it() -> None:
    now = 100.0
    once = OncePerSubject(clock=lambda: now)
    assert once.filter(line("FAIL", "refused"))
    assert not once.filter(line("FAIL", "refused again"))
    assert once.filter(line("MAXPOLL", "left the group"))
    now += 10
    assert once.filter(line("FAIL", "still refused"))


async def test_a_client_without_a_broker_does_not_say_so_at_every_try(caplog: pytest.LogCaptureFixture) -> None:
    tries = 0

    def failed(_: object) -> None:
        nonlocal tries
        tries += 1

    producer = Producer({"bootstrap.servers": "127.0.0.1:1", "error_cb": failed}, logger=CLIENT_LOG)

    async def tried_often() -> bool:
        producer.poll(0.05)
        return tries > 6

    await eventually(tried_often, what="the client has tried several times")
    said = [record for record in caplog.records if record.name == CLIENT_LOG.name]
    assert len(said) <= 1, "none when another test has just made it say so"
