"""The history of an object: what the processes logged about it and what is tied to it, and the blows meanwhile."""

import json
from datetime import UTC, datetime
from pathlib import Path

from chaos.blows import Blow, Way
from chaos.evidence import Said, correlations
from chaos.history import history
from chaos.storm import Struck


def log(path: Path, *lines: dict[str, str]) -> None:
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in lines) + '{"at": "2026-03-01T10:00:09', encoding="utf-8"
    )


def test_lines_of_all_logs_stand_in_the_order_of_time_with_the_blows_in_between(tmp_path: Path) -> None:
    log(
        tmp_path / "payment-worker.log",
        {
            "at": "2026-03-01T10:00:05.000000Z",
            "event": "payments.settled",
            "payment_id": "p1",
            "order_id": "o1",
        },
        {
            "at": "2026-03-01T10:00:06.000000Z",
            "event": "payments.settled",
            "payment_id": "p2",
            "order_id": "o2",
        },
    )
    log(
        tmp_path / "payment-api.log",
        {"at": "2026-03-01T10:00:01.000000Z", "event": "payments.payment.opened", "payment_id": "p1"},
    )
    struck = [
        Struck(datetime(2026, 3, 1, 10, 0, second, tzinfo=UTC), Blow(Way.KILL, name))
        for second, name in ((3, "kafka"), (8, "postgres"))
    ]

    told = history(tmp_path, ["o1"], struck)

    assert [line.split()[0][-11:-8] for line in told] == [":01", ":03", ":05"]
    assert told[0].endswith("payments.payment.opened")
    assert told[1].endswith("kill -9 kafka")
    assert told[2].endswith("payments.settled")


def test_the_lines_of_the_request_that_set_it_going_are_told_and_those_of_a_tick_are_not(tmp_path: Path) -> None:
    log(
        tmp_path / "payment-worker.log",
        {"at": "2026-03-01T10:00:01Z", "event": "jobs.job.failed", "job_id": "j1", "correlation_id": "c1"},
        {"at": "2026-03-01T10:00:02Z", "event": "payments.settled", "payment_id": "p1", "correlation_id": "c1"},
        {"at": "2026-03-01T10:00:03Z", "event": "payments.seen", "payment_id": "p1", "correlation_id": "tick:look:1"},
        {"at": "2026-03-01T10:00:04Z", "event": "payments.seen", "payment_id": "p2", "correlation_id": "tick:look:1"},
    )

    told = history(tmp_path, ["p1"], [])

    assert [line.split()[-1] for line in told] == ["jobs.job.failed", "payments.settled", "payments.seen"]


def test_the_request_behind_an_object_is_known_by_the_events_about_it() -> None:
    said = [
        Said("order", "e1", "order.placed", "o1", "c1"),
        Said("payment", "e2", "payment.settled", "o1", "c1"),
        Said("order", "e3", "order.cancel_requested", "o1", "c2"),
        Said("order", "e4", "order.placed", "o2", "c3"),
    ]

    assert correlations(["o1"], said) == ["c1", "c2"]
    assert correlations(["e4"], said) == ["c3"]


def test_what_nobody_logged_about_has_no_history(tmp_path: Path) -> None:
    log(tmp_path / "order-api.log", {"at": "2026-03-01T10:00:05.000000Z", "event": "orders.order.placed"})

    assert history(tmp_path, ["o1"], []) == []
    assert history(tmp_path, [], []) == []
