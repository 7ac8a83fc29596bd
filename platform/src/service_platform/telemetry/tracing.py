"""Trace context (W3C) that travels in the headers of outbox rows, Kafka records, jobs and calls."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from opentelemetry import context, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_propagator = TraceContextTextMapPropagator()
_tracer = trace.get_tracer("service_platform")


def configure_tracing(service: str) -> None:
    """Make trace ids in this process.

    Nothing is exported yet, so spans are not recorded and cost next to nothing, while their ids travel. A process
    that sets a provider of its own before (an exporter, an agent) keeps it.
    """
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        provider = TracerProvider(sampler=ALWAYS_OFF, resource=Resource({"service.name": service}))
        trace.set_tracer_provider(provider)


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
    """A span around a block, child of the current one, or the root of a new trace. Never give it personal data."""
    with _tracer.start_as_current_span(name, attributes=attributes):
        yield


def trace_id() -> str | None:
    """The current trace id in hexadecimal; None outside of any trace."""
    current = trace.get_current_span().get_span_context()
    return trace.format_trace_id(current.trace_id) if current.is_valid else None
