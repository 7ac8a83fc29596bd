"""Trace context goes out in headers and comes back in."""

from service_platform.telemetry import carrier, configure_tracing, restore, span, trace_id

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_there_is_no_trace_outside_of_a_span() -> None:
    assert trace_id() is None
    assert carrier() == {}


def test_a_span_makes_a_trace_and_a_restored_one_continues_it() -> None:
    configure_tracing("test")
    with span("first"):
        sent, first = carrier(), trace_id()
    assert first is not None
    assert first in sent["traceparent"]
    with restore(sent), span("second"):
        assert trace_id() == first
        assert carrier()["traceparent"] != sent["traceparent"]
    assert trace_id() is None


def test_a_foreign_parent_is_taken_over_and_a_malformed_one_is_not() -> None:
    configure_tracing("test")
    with restore({"traceparent": PARENT}), span("work"):
        assert trace_id() == "0af7651916cd43dd8448eb211c80319c"
    with restore({"traceparent": "00-nonsense"}):
        assert trace_id() is None
