"""librdkafka's own mock broker, which refuses a request when told to: real ones do at instants that no test can choose.

Like the real ones before version 4.5 it takes any first sequence number of a producer that it does not know.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka

NOT_LEADER_OR_FOLLOWER = 6
_PRODUCE = 0
_PRODUCER = 0  # the type of client that carries the mock
_ALL_BROKERS = -1


class MockBroker:
    """One broker with a topic of one partition. An answer takes `round_trip_ms`, so requests are in flight together."""

    def __init__(self, library: ctypes.CDLL, cluster: ctypes.c_void_p, topic: str, round_trip_ms: int) -> None:
        self._library, self._cluster = library, cluster
        self.topic = topic
        self.address: str = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()
        library.rd_kafka_mock_topic_create(cluster, topic.encode(), 1, 1)
        library.rd_kafka_mock_broker_set_rtt(cluster, _ALL_BROKERS, round_trip_ms)

    def refuse_next_produce(self, error: int = NOT_LEADER_OR_FOLLOWER) -> None:
        """Answer the next produce request with `error`; the client tries it again by itself."""
        self._library.rd_kafka_mock_push_request_errors_array(self._cluster, _PRODUCE, 1, (ctypes.c_int * 1)(error))


@contextlib.contextmanager
def mock_broker(topic: str, *, round_trip_ms: int = 200) -> Iterator[MockBroker]:
    """A broker for the length of the block."""
    library = _library()
    reason = ctypes.create_string_buffer(512)
    carrier = library.rd_kafka_new(_PRODUCER, library.rd_kafka_conf_new(), reason, len(reason))
    assert carrier, reason.value.decode()
    cluster = library.rd_kafka_mock_cluster_new(carrier, 1)
    try:
        yield MockBroker(library, cluster, topic, round_trip_ms)
    finally:
        library.rd_kafka_mock_cluster_destroy(cluster)
        library.rd_kafka_destroy(carrier)


def _library() -> ctypes.CDLL:
    """The librdkafka that the Python client brings along: the mock's functions are part of it."""
    package = Path(confluent_kafka.__file__).parent
    found = [*package.parent.glob("confluent_kafka.libs/librdkafka*"), *package.glob(".dylibs/librdkafka*")]
    assert found, f"no librdkafka beside {package}: where does this platform's wheel keep it?"
    library, pointer = ctypes.CDLL(str(found[0])), ctypes.c_void_p
    library.rd_kafka_conf_new.restype = pointer
    library.rd_kafka_new.restype = pointer
    library.rd_kafka_new.argtypes = [ctypes.c_int, pointer, ctypes.c_char_p, ctypes.c_size_t]
    library.rd_kafka_destroy.argtypes = [pointer]
    library.rd_kafka_mock_cluster_new.restype = pointer
    library.rd_kafka_mock_cluster_new.argtypes = [pointer, ctypes.c_int]
    library.rd_kafka_mock_cluster_destroy.argtypes = [pointer]
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    library.rd_kafka_mock_cluster_bootstraps.argtypes = [pointer]
    library.rd_kafka_mock_topic_create.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    library.rd_kafka_mock_broker_set_rtt.argtypes = [pointer, ctypes.c_int32, ctypes.c_int]
    library.rd_kafka_mock_push_request_errors_array.argtypes = [
        pointer,
        ctypes.c_int16,
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_int),
    ]
    return library
