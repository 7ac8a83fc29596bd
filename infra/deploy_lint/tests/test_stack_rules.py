"""Each rule for the stack file, with a violation planted as somebody in a hurry would make it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deploy_lint import source_breaches, stack_breaches, stack_rules
from native.layout import ROOT
from stack import Lock, render_stack
from stack.render import LOCK

LOCKED = Lock.read(LOCK)
Services = dict[str, dict[str, Any]]
Plant = Callable[[Services], object]


def caught(plant: Plant, *, rule: str | None = None, lock: Lock = LOCKED) -> list[str]:
    """What the rules, or one of them, say of the real stack with one thing changed."""
    stack = render_stack(LOCKED)
    plant(stack["services"])
    found = stack_breaches(stack, lock) if rule is None else getattr(stack_rules, rule)(stack, lock)
    return [str(breach) for breach in found]


def deploy(name: str, **changed: object) -> Plant:
    return lambda s: s[name]["deploy"].update(changed)


def environment(name: str, **changed: str) -> Plant:
    return lambda s: s[name]["environment"].update(changed)


PLANTS: list[tuple[str, Plant, str]] = [
    (
        "images_are_ours_by_digest_or_pinned",
        lambda s: s["order-api"].update(image="registry.example/fencepost/order@sha256:" + "1" * 64),
        "not in images.lock.yaml",
    ),
    (
        "images_are_ours_by_digest_or_pinned",
        lambda s: s["postgres"].update(image="postgres:17"),
        "postgres:17, which is",
    ),
    ("images_are_ours_by_digest_or_pinned", lambda s: s["ingress"].update(image="caddy:2"), "its image is caddy:2"),
    (
        "the_lock_has_the_images_of_the_stack",
        lambda s: [s.pop(name) for name in list(s) if name.startswith("billing")],
        "images.lock.yaml fencepost/billing",
    ),
    ("only_the_ingress_publishes", lambda s: s["order-api"].update(ports=[{"published": 8000}]), "on every node"),
    ("only_the_ingress_publishes", lambda s: s["ingress"].update(ports=["443:443"]), "Swarm wants numbers"),
    ("only_the_ingress_publishes", lambda s: s["ingress"].pop("ports"), "nobody can reach"),
    ("secrets_are_swarms", environment("payment-worker", STRIPE_API_KEY="sk_live_51"), "STRIPE_API_KEY_FILE"),
    ("every_kind_runs", lambda s: s.pop("billing-scheduler"), "billing-scheduler"),
    ("every_kind_runs", lambda s: s.pop("topics"), "topics: it is not in the stack"),
    ("stores_stay_where_their_data_are", deploy("redis", replicas=2), "destroy each other's data"),
    ("stores_stay_where_their_data_are", deploy("kafka", placement={}), "any node"),
    ("stores_stay_where_their_data_are", deploy("postgres", update_config={"order": "start-first"}), "beside it"),
    ("stores_stay_where_their_data_are", deploy("postgres", endpoint_mode="vip"), "forgets idle connections"),
    ("stores_stay_where_their_data_are", lambda s: s["kafka"].update(volumes=["/data:/var/lib/kafka/data"]), "named"),
    ("stores_stay_where_their_data_are", lambda s: s["redis"].update(command="redis-server"), "noeviction"),
    ("updates_keep_serving", lambda s: s["order-api"]["deploy"].pop("update_config"), "stops all of it"),
    ("updates_keep_serving", deploy("payment-relay", rollback_config={}), "before there is another"),
    ("updates_keep_serving", deploy("billing-scheduler", replicas=1), "replicas: 2 or more"),
    ("updates_keep_serving", lambda s: s["ingress"]["deploy"]["update_config"].update(parallelism=2), "ingress"),
    ("steps_run_once_a_deploy", deploy("order-migrate", mode="replicated"), "started again for ever"),
    ("steps_run_once_a_deploy", deploy("topics", update_config={}), "A job has restart_policy on-failure"),
    ("steps_run_once_a_deploy", deploy("topics", restart_policy={"condition": "any"}), "A job has"),
    ("nothing_is_of_development", lambda s: s.update(mail={"image": "x"}), "double of the outside world"),
    ("nothing_is_of_development", environment("order-api", ENVIRONMENT="development"), "In a stack it is production"),
    ("nothing_is_of_development", environment("order-api", RATE_LIMIT="off"), "RATE_LIMIT: off is for development"),
    ("nothing_is_of_development", environment("order-migrate", DATABASE_SSLMODE="disable"), "it is verify-full"),
    ("nothing_is_of_development", environment("billing-api", JWT_ISSUER="https://fencepost.local/"), "JWT_ISSUER"),
    ("nothing_is_of_development", environment("payment-api", STRIPE_API_BASE="http://provider:8010"), "development"),
    ("nothing_is_of_development", environment("billing-worker", SMTP_HOST="mail"), "mail is a double"),
    ("swarm_knows_every_word", lambda s: s["order-api"].update(tmpfs=["/tmp"]), "leaves out tmpfs"),
    ("everything_is_bounded", lambda s: s["ingress"]["deploy"].pop("resources"), "no memory limit"),
    ("everything_is_bounded", lambda s: s["order-relay"].update(cap_drop=[]), "keeps capabilities"),
    ("everything_is_bounded", lambda s: s["order-relay"].update(healthcheck={"disable": True}), "healthcheck is off"),
    ("connections_fit_while_updating", deploy("order-api", replicas=9), "up to 404 connections, and it lets 397"),
    ("connections_fit_while_updating", environment("order-worker", WORKER_CONCURRENCY="8"), "up to 399 connections"),
]


def test_the_stack_keeps_every_rule() -> None:
    assert caught(lambda _: None) == []


def test_every_rule_has_a_planted_violation() -> None:
    assert {rule.__name__ for rule in stack_rules.RULES} == {rule for rule, _, _ in PLANTS}


@pytest.mark.parametrize(("rule", "plant", "said"), PLANTS, ids=[f"{rule}-{said}" for rule, _, said in PLANTS])
def test_a_planted_violation_is_caught_by_its_rule(rule: str, plant: Plant, said: str) -> None:
    assert any(said in breach for breach in caught(plant, rule=rule)), caught(plant, rule=rule)


def test_a_secret_of_the_stack_that_is_a_file_is_caught() -> None:
    stack = render_stack(LOCKED)
    stack["secrets"]["ca.pem"] = {"file": "./ca.pem"}
    assert [breach.where for breach in stack_breaches(stack, LOCKED)] == ["secrets.ca.pem"]


@pytest.mark.parametrize(
    "statement", ["Database(address)", "asyncpg.connect(host)", "create_async_engine(url)", "open_connection(database)"]
)
def test_a_connection_that_nobody_counts_is_caught(tmp_path: Path, statement: str) -> None:
    for path in [*ROOT.glob("platform/src/**/*.py"), *ROOT.glob("services/*/src/**/*.py")]:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    assert source_breaches(tmp_path) == []
    added = tmp_path / "services/order/src/order_service/bootstrap.py"
    added.write_text(added.read_text() + f"\nextra = {statement}\n")
    (breach,) = source_breaches(tmp_path)
    assert statement.partition("(")[0] in breach.what
    assert "connections.py" in breach.mend
