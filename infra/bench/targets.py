"""What is aimed at, as ratios within one run where it can be; reported as met or missed, never asserted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .measurements import consuming, job_statements, jobs, relay_drain, relay_idle, relay_kill, relay_latency
from .results import Results

OURS = "fencepost"
HAND_TUNED = "hand-tuned"
DEBEZIUM = "debezium"
FASTSTREAM = "faststream-outbox"
TXOUTBOX = "txoutbox"

Figure = Callable[[Results], float | None]


@dataclass(frozen=True)
class Target:
    """A figure of a run and the bound that it is to keep."""

    text: str
    figure: Figure
    bound: float
    at_least: bool = True

    def verdict(self, results: Results) -> tuple[str, float | None]:
        """`met`, `missed` or `not measured`, and the figure."""
        value = self.figure(results)
        if value is None:
            return "not measured", None
        is_met = value >= self.bound if self.at_least else value <= self.bound
        return ("met" if is_met else "missed"), value


def _ratio(measurement: str, ours: str, other: str, figure: str) -> Figure:
    return lambda results: results.ratio(measurement, ours, other, figure)


def _median(measurement: str, contestant: str, figure: str) -> Figure:
    return lambda results: results.median(measurement, contestant, figure)


def _drain(text: str, ours: str, other: str, bound: float, figure: str = "total") -> Target:
    return Target(f"drain: {text}", _ratio(relay_drain.NAME, ours, other, figure), bound)


def _latency(figure: str, limit: float) -> Target:
    return Target(
        f"latency: {figure.removesuffix('_ms')}, ms on a quiet machine",
        _median(relay_latency.NAME, OURS, figure),
        limit,
        at_least=False,
    )


def _latency_below(other: str, figure: str, name: str, bound: float = 1.0) -> Target:
    ratio = _ratio(relay_latency.NAME, OURS, other, figure)
    return Target(f"latency: {name} as a share of {other}'s", ratio, bound, at_least=False)


TARGETS = (
    _drain("share of the hand-tuned loop's rate", OURS, HAND_TUNED, 0.8),
    _drain("share of the hand-tuned loop's rate, steady middle", OURS, HAND_TUNED, 0.8, "steady"),
    _drain("against Debezium warm", OURS, DEBEZIUM, 1.0),
    _drain("against Debezium, both from a cold start", f"{OURS}, cold", f"{DEBEZIUM}, cold", 3.0),
    _drain("against faststream-outbox", OURS, FASTSTREAM, 15.0),
    _drain("two relays against one", f"{OURS}, 2 relays", OURS, 1.0),
    _latency("p50_ms", 4.0),
    _latency("p99_ms", 12.0),
    _latency_below(TXOUTBOX, "p50_ms", "p50"),
    _latency_below(TXOUTBOX, "p99_ms", "p99"),
    _latency_below(TXOUTBOX, "cpu_relay_percent", "cpu", 0.5),
    _latency_below(FASTSTREAM, "p50_ms", "p50"),
    _latency_below(FASTSTREAM, "p99_ms", "p99"),
    _latency_below(FASTSTREAM, "cpu_relay_percent", "cpu", 0.5),
    Target(
        "kill -9 of the only relay: next row sent after, s",
        _median(relay_kill.NAME, OURS, "next_row_seconds"),
        2.0,
        at_least=False,
    ),
    Target(
        "kill -9 of one of two relays: longest wait of a row, s",
        _median(relay_kill.NAME, f"{OURS}, one of two", "longest_wait_seconds"),
        2.0,
        at_least=False,
    ),
    Target("idle: statements a second", _median(relay_idle.NAME, OURS, "statements_a_second"), 2.0, at_least=False),
    Target("idle: % of a core", _median(relay_idle.NAME, OURS, "cpu_percent"), 0.3, at_least=False),
    Target(
        "consuming: share of the same statements bare",
        _ratio(consuming.NAME, consuming.ENGINE, consuming.BARE, "rate"),
        0.6,
    ),
    Target(
        "consuming: parallel over keys against one at a time, one partition",
        _ratio(consuming.NAME, consuming.ONE_PARTITION, consuming.ONE_AT_A_TIME, "rate"),
        5.0,
    ),
    Target("jobs: share of plain Celery's rate", _ratio(jobs.NAME, OURS, "celery", "rate"), 0.5),
    Target("jobs: against procrastinate", _ratio(jobs.NAME, OURS, "procrastinate", "rate"), 1.0),
    Target(
        "jobs: statements of a claim",
        _median(job_statements.NAME, job_statements.CLAIM, "statements"),
        1.0,
        at_least=False,
    ),
    Target(
        "jobs: a claim, µs",
        _median(job_statements.NAME, job_statements.CLAIM, "p50_us"),
        2_000.0,
        at_least=False,
    ),
)
