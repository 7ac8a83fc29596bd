"""Trace context goes out in headers and comes back in."""

from unittest.mock import patch

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from service_platform.telemetry import carrier, restore, span, trace_id, tracing

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_there_is_no_trace_outside_of_a_span() -> None:
    assert trace_id() is None
    assert carrier() == {}


def test_a_span_makes_a_trace_and_a_restored_one_continues_it() -> None:
    with span("first"):
        sent, first = carrier(), trace_id()
    assert first is not None
    assert first in sent["traceparent"]
    with restore(sent), span("second"):
        assert trace_id() == first
        assert carrier()["traceparent"] != sent["traceparent"]
    assert trace_id() is None


def test_a_foreign_parent_is_taken_over_and_a_malformed_one_is_not() -> None:
    with restore({"traceparent": PARENT}), span("work"):
        assert trace_id() == "0af7651916cd43dd8448eb211c80319c"
    with restore({"traceparent": "00-nonsense"}):
        assert trace_id() is None


def test_a_provider_that_the_process_has_set_gets_every_span() -> None:
    recorded = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(recorded))
    with (
        patch.object(trace, "get_tracer_provider", lambda: provider),
        patch.object(tracing, "_tracer", provider.get_tracer("test")),
        restore({"traceparent": PARENT}),
        span("work", {"rows": 3}),
    ):
        assert trace_id() == "0af7651916cd43dd8448eb211c80319c"
    (seen,) = recorded.get_finished_spans()
    assert (seen.name, dict(seen.attributes or {})) == ("work", {"rows": 3})
