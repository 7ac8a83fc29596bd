"""A run too small to say anything about speed, which shows that the bench still measures."""

import asyncio
from typing import ClassVar

import pytest

from bench.contestants import Fencepost
from bench.job_systems import FencepostJobs, PlainCelery
from bench.lab import Lab
from bench.limits import UPDATE_ALONE
from bench.measurements import consuming, job_statements, jobs, relay_drain, relay_latency
from bench.measurements.rounds import in_rounds
from bench.plan import Plan
from bench.results import Results

OURS = "fencepost"


class OnlyRunning(Fencepost):
    """Ours, in the one way that is measured first."""

    more_relays: ClassVar[tuple[int, ...]] = ()
    also_cold: ClassVar[bool] = False


@pytest.mark.usefixtures("stack")
def test_our_relay_and_our_consumer_are_measured_and_lose_nothing(lab: Lab) -> None:
    said: list[str] = []
    plan = Plan(rows=300, repeats=1, flow_seconds=1, messages=200, say=said.append)

    results = asyncio.run(measured(lab, plan))

    assert results.left_out == {}
    for contestant in (UPDATE_ALONE, OURS):
        [total] = results.values(relay_drain.NAME, contestant, "total")
        assert total > 0
    for figure, value in {"rows": 300, "lost": 0, "out_of_order": 0, "duplicates": 0}.items():
        assert results.values(relay_drain.NAME, OURS, figure) == [value]
    [p50], [p99] = (results.values(relay_latency.NAME, OURS, figure) for figure in ("p50_ms", "p99_ms"))
    assert 0 < p50 <= p99
    assert results.values(relay_latency.NAME, OURS, "lost") == [0]
    [rate] = results.values(consuming.NAME, consuming.ENGINE, "rate")
    assert rate > 0
    assert results.values(consuming.NAME, consuming.ENGINE, "lost") == [0]
    assert results.values(consuming.NAME, consuming.ENGINE, "double") == [0]
    assert len(said) == 4


@pytest.mark.usefixtures("stack")
def test_jobs_and_their_statements_are_measured_and_none_is_lost_or_run_twice(lab: Lab) -> None:
    systems = [PlainCelery.name, FencepostJobs.name]
    plan, results = Plan(jobs=50, statements=20, repeats=1, flow_seconds=1, only=systems), Results()

    asyncio.run(jobs.measure(lab, [], plan, results))
    asyncio.run(job_statements.measure(lab, [], plan, results))

    assert results.left_out == {}
    for system in systems:
        figures = {figure: results.median(jobs.NAME, system, figure) for figure in ("rate", "p50_ms", "lost", "twice")}
        assert (figures["lost"], figures["twice"]) == (0, 0)
        assert (figures["rate"] or 0) > 0
        assert figures["p50_ms"] is not None  # below 0 where a task ran before its sender had noted that it was sent
    for statement, count in {job_statements.CLAIM: 1, job_statements.RENEWAL: 1, job_statements.FENCE: 3}.items():
        assert results.values(job_statements.NAME, statement, "statements") == [count]


async def measured(lab: Lab, plan: Plan) -> Results:
    results, ours = Results(), OnlyRunning(lab)
    try:
        drains = [take for take in relay_drain.takes(lab, [ours], plan) if take.contestant in (UPDATE_ALONE, OURS)]
        await in_rounds(relay_drain.NAME, drains, plan, results, shown=["total"])
        await relay_latency.measure(lab, [ours], plan, results)
        engine = [take for take in consuming.takes(lab, ours, plan) if take.contestant == consuming.ENGINE]
        await in_rounds(consuming.NAME, engine, plan, results, shown=["rate"])
    finally:
        await ours.close()
    return results
