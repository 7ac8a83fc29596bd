"""Trace context (W3C) that travels in the headers of outbox rows, Kafka records, jobs and calls."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping

from opentelemetry import context, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_propagator = TraceContextTextMapPropagator()
_tracer = trace.get_tracer("service_platform")


def carrier() -> dict[str, str]:
    """The current trace context as headers (`traceparent`, `tracestate`); empty outside of any trace."""
    headers: dict[str, str] = {}
    _propagator.inject(headers)
    return headers


@contextlib.contextmanager
def restore(headers: Mapping[str, str]) -> Iterator[None]:
    """Continue the trace that `headers` (lower-case names) carry. Malformed ones start none and raise nothing."""
    if "traceparent" not in headers:
        yield
        return
    token = context.attach(_propagator.extract(headers, context=context.Context()))
    try:
        yield
    finally:
        context.detach(token)


@contextlib.contextmanager
def span(name: str, attributes: Mapping[str, str | int | bool] | None = None) -> Iterator[None]:
    """A span around a block, child of the current one, or the root of a new trace. Never give it personal data.

    Nothing is exported yet: as long as the process has set no tracer provider (an exporter, an agent), spans are not
    recorded, and only their ids travel.
    """
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        with _tracer.start_as_current_span(name, attributes=attributes):
            yield
        return
    token = context.attach(trace.set_span_in_context(_unrecorded()))
    try:
        yield
    finally:
        context.detach(token)


def _unrecorded() -> trace.Span:
    """A span that is ids and nothing else. The SDK's takes ten times as long, once for every message."""
    parent = trace.get_current_span().get_span_context()
    return trace.NonRecordingSpan(
        trace.SpanContext(
            trace_id=parent.trace_id if parent.is_valid else random.getrandbits(128),
            span_id=random.getrandbits(64),
            is_remote=False,
            trace_state=parent.trace_state,
        )
    )


def trace_id() -> str | None:
    """The current trace id in hexadecimal; None outside of any trace."""
    current = trace.get_current_span().get_span_context()
    return trace.format_trace_id(current.trace_id) if current.is_valid else None
