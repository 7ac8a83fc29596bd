"""The player against a fake suite: it repeats what is lost, waits for what is slow, and passes on what disagrees."""

from typing import Any

import pytest

from demo.disagreement import Kind
from demo.patience import Unanswered
from demo.purchases import read_purchases
from demo.replay import Replay
from demo.run import Run
from demo.suite import Suite
from demo.tests.fake_suite import FakeSuite

PURCHASES = read_purchases()[:30]


def player(suite: Suite, **parts: Any) -> Replay:
    return Replay(suite, PURCHASES, look_every=0.05, **parts)


async def test_a_run_over_a_sound_suite_agrees(running: Suite, fake: FakeSuite) -> None:
    phases: dict[str, tuple[int, int]] = {}
    outcome = await player(running, progress=lambda phase, done, total: phases.update({phase: (done, total)})).play()
    assert outcome.disagreements == []
    assert outcome.agrees
    assert len(fake.orders) == 30
    assert sum(order["total_minor"] for order in fake.orders) == sum(purchase.cents for purchase in PURCHASES)
    assert phases["placing orders"] == (30, 30)
    assert phases["waiting for payments, invoices and mails"] == (30, 30)
    assert outcome.timing.latency is not None
    assert outcome.timing.latency.orders == 30
    assert 0 < outcome.timing.latency.p50 <= outcome.timing.latency.p95 <= outcome.timing.latency.p99


@pytest.mark.parametrize("effect", [True, False], ids=["the effect applied", "no effect"])
async def test_lost_answers_are_asked_for_again_and_place_no_second_order(
    running: Suite, fake: FakeSuite, effect: bool
) -> None:
    fake.first_tries_lost, fake.effect_before_loss = (500, 503, 429), effect
    outcome = await player(running).play()
    assert outcome.disagreements == []
    assert len(fake.orders) == 30
    assert set(fake.tries.values()) == {2}


async def test_the_same_run_again_places_nothing_new(running: Suite, fake: FakeSuite) -> None:
    run = Run("again")
    await player(running, run=run).play()
    outcome = await player(running, run=run).play()
    assert outcome.agrees
    assert len(fake.orders) == 30
    assert outcome.timing.latency is None  # all were placed before this client posted them


async def test_earlier_runs_in_the_same_suite_do_not_disturb(running: Suite, fake: FakeSuite) -> None:
    await player(running, run=Run("one")).play()
    outcome = await player(running, run=Run("one-more")).play()
    assert outcome.agrees
    assert len(fake.orders) == 60
    assert len(outcome.records.invoices) == 60


async def test_no_more_orders_are_posted_at_once_than_asked_for(running: Suite, fake: FakeSuite) -> None:
    await player(running, concurrency=2).play()
    assert fake.most_at_once <= 2


async def test_a_refused_order_is_a_disagreement_that_quotes_the_refusal(running: Suite, fake: FakeSuite) -> None:
    run = Run("refused")
    fake.refused_key = run.idempotency_key(PURCHASES[4])
    outcome = await player(running, run=run).play()
    assert [disagreement.kind for disagreement in outcome.disagreements] == [Kind.ANSWER_MISSING, Kind.ORDER_MISSING]
    assert "line 5" in str(outcome.disagreements[0])
    assert "422: no such currency" in str(outcome.disagreements[0])
    assert not outcome.agrees


async def test_a_declined_order_is_not_waited_for_but_reported(running: Suite, fake: FakeSuite) -> None:
    run = Run("declined")
    fake.declined_customers = frozenset({run.customer_id(PURCHASES[0])})
    outcome = await player(running, run=run).play()
    assert outcome.stood_still is None
    assert {Kind.ORDER_STATUS, Kind.PAYMENT_STATUS, Kind.CAPTURE_MISSING, Kind.INVOICE_MISSING} == {
        disagreement.kind for disagreement in outcome.disagreements
    }


@pytest.mark.parametrize(("steps", "stage"), [(0, "30 not paid"), (1, "30 not invoiced")])
async def test_a_suite_that_stands_still_is_given_up_and_says_where(
    running: Suite, fake: FakeSuite, steps: int, stage: str
) -> None:
    fake.steps = steps
    outcome = await player(running, standstill=0.5).play()
    assert outcome.stood_still is not None
    assert stage in outcome.stood_still
    assert "order-1" in outcome.stood_still
    assert not outcome.agrees


async def test_a_suite_that_is_down_is_given_up_and_says_so(suite: Suite) -> None:
    with pytest.raises(Unanswered, match=r"POST .*/orders had no usable answer for 1 s.*ConnectError"):
        await player(suite, patience=1).play()
