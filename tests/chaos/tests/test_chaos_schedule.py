"""The schedule of a storm: its seed decides it, and it leaves nothing out."""

from itertools import pairwise

from chaos.blows import MAIL_FAULTS, PROVIDER_FAULTS, Blow, Targets, Way, schedule

TARGETS = Targets(
    processes=["order-api", "order-worker", "postgres"],
    workers=["order-worker"],
    stores=["postgres"],
    routes=["postgres"],
)
KINDS = 2 * 3 + 1 + 1 + 2 + len(PROVIDER_FAULTS) + len(MAIL_FAULTS)


def test_a_seed_gives_the_same_blows_at_the_same_times_and_another_seed_others() -> None:
    assert schedule(7, 300, TARGETS) == schedule(7, 300, TARGETS)
    assert schedule(7, 300, TARGETS) != schedule(8, 300, TARGETS)


def test_every_kind_of_blow_comes_once_before_any_comes_again() -> None:
    first = [(planned.blow.way, planned.blow.target) for planned in schedule(7, 600, TARGETS)][:KINDS]

    assert len(set(first)) == KINDS
    assert {way for way, _ in first} == set(Way)


def test_blows_lie_within_the_duration_in_the_order_of_time() -> None:
    planned = schedule(3, 60, TARGETS)

    assert all(a.at < b.at for a, b in pairwise(planned))
    assert planned[0].at > 0
    assert planned[-1].at < 60


def test_without_proxies_no_connection_is_planned_to_be_struck() -> None:
    targets = Targets(TARGETS.processes, TARGETS.workers, TARGETS.stores)

    assert {planned.blow.way for planned in schedule(7, 600, targets)} == set(Way) - {Way.CUT, Way.SLOW}


def test_a_blow_says_what_it_strikes_and_for_how_long() -> None:
    assert str(Blow(Way.CUT, "kafka", 2.34)) == "connections cut to kafka for 2.3 s"
    assert str(Blow(Way.KILL, "order-relay-2")) == "kill -9 order-relay-2"
