"""Each contract for imports catches what is planted for it: all plants at once, in a copy of the code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from native.layout import ROOT

RULES = "infra/architecture/imports.toml"
LINTER = tomllib.loads((ROOT / RULES).read_text())["tool"]["importlinter"]
CONTRACTS = LINTER["contracts"]
ROOTS = ("platform/src", "services/order/src", "services/payment/src", "services/billing/src")

# By contract: in which module somebody writes which import, and what is said of it.
PLANTS = [
    (
        "services-import-no-service",
        "services/order/src/order_service/reactors/mark_paid.py",
        "from payment_service.events import PaymentSettled",
        "order_service.reactors.mark_paid -> payment_service.events",
    ),
    (
        "platform-imports-no-service",
        "platform/src/service_platform/ops/audit.py",
        "from order_service.settings import OrderSettings",
        "service_platform.ops.audit -> order_service.settings",
    ),
    (
        "parts-of-a-service-are-layers",
        "services/payment/src/payment_service/domain/payments/service.py",
        "from payment_service.integrations import StripeCardProvider",
        "payment_service.domain.payments.service -> payment_service.integrations",
    ),
    (
        "parts-of-a-service-are-layers",
        "services/billing/src/billing_service/api/invoices.py",
        "from billing_service.jobs import DeliverInvoice",
        "billing_service.api.invoices -> billing_service.jobs",
    ),
    (
        "parts-of-a-service-are-layers",
        "services/order/src/order_service/domain/orders/service.py",
        "from order_service.settings import OrderSettings",
        "order_service.domain.orders.service -> order_service.settings",
    ),
    (
        "parts-of-a-service-are-layers",
        "services/order/src/order_service/webhooks/__init__.py",
        "",
        "order_service.webhooks",  # a part that has no place yet
    ),
    (
        "kinds-of-process-are-apart",
        "services/order/src/order_service/main/scheduler.py",
        "from order_service.main.worker import main as run_worker",
        "order_service.main.scheduler -> order_service.main.worker",
    ),
]


def linted(root: Path) -> tuple[int, str]:
    """import-linter's exit code and words for the code under `root`."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    done = subprocess.run(
        [*command, str(ROOT / RULES), "--no-logo", "--no-cache"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(str(root / folder) for folder in ROOTS), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.fixture(scope="module")
def said_of_plants(tmp_path_factory: pytest.TempPathFactory) -> str:
    copy = tmp_path_factory.mktemp("planted")
    only_code: Callable[[str, list[str]], set[str]] = shutil.ignore_patterns("__pycache__")
    for folder in ROOTS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=only_code)
    for _, module, line, _ in PLANTS:
        file = copy / module
        file.parent.mkdir(exist_ok=True)
        with file.open("a") as text:
            text.write(f"\n{line}\n")
    code, words = linted(copy)
    assert code == 1, words
    return words


def test_the_suite_keeps_every_contract() -> None:
    code, words = linted(ROOT)
    assert code == 0, words


def test_every_service_stands_in_every_contract() -> None:
    services = {f"{project.parent.name}_service" for project in ROOT.glob("services/*/pyproject.toml")}
    assert services | {"service_platform"} == {*LINTER["root_packages"]}
    for contract in CONTRACTS:
        lists = [value for value in contract.values() if isinstance(value, list)]
        named = {name.partition(".")[0] for names in lists for name in names}
        assert services - named == set(), f"{RULES}: {contract['id']} does not name them"


def test_every_contract_has_its_planted_violation() -> None:
    assert {contract["id"] for contract in CONTRACTS} == {contract for contract, *_ in PLANTS}


@pytest.mark.parametrize(("contract", "module", "line", "said"), PLANTS, ids=[said for *_, said in PLANTS])
def test_a_planted_import_breaks_its_contract_and_the_mend_is_told(
    contract: str, module: str, line: str, said: str, said_of_plants: str
) -> None:
    rule = next(rule for rule in CONTRACTS if rule["id"] == contract)
    assert f"{rule['name']} BROKEN" in said_of_plants
    assert said in said_of_plants
    assert rule["broken_contract_guidance"] in said_of_plants


def test_the_page_names_every_contract() -> None:
    page = (ROOT / "docs/architecture-rules.md").read_text()
    assert [contract["id"] for contract in CONTRACTS if f"`{contract['id']}`" not in page] == []
