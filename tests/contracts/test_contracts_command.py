"""The commands as a person and CI run them, on copies that have a git repository of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from git_lab import Repository

from contract_writer.__main__ import main
from world.patterns import ROOT

ORDER_PLACED = "services/order/src/order_service/events/order_placed.py"
PAYMENT_SETTLED = "services/order/src/order_service/events/payment/payment_settled.py"


def copied(services: Sequence[str], to: Path) -> Repository:
    for service in services:
        shutil.copytree(ROOT / "services" / service / "src", to / "services" / service / "src")
    shutil.copytree(ROOT / "contracts", to / "contracts")
    return Repository.started_in(to)


def run(repository: Repository, *command: str) -> tuple[int, str]:
    """The code that it ended with and all that it printed."""
    path = os.pathsep.join(str(source) for source in repository.root.glob("services/*/src"))
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=repository.root,
        env={**os.environ, "PYTHONPATH": path, "CONTRACTS_BASE": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture
def order_alone(tmp_path: Path) -> Repository:
    """order, the contracts, and none of the other services."""
    return copied(["order"], tmp_path)


def test_a_service_that_was_copied_out_alone_writes_no_change_that_breaks_its_readers(order_alone: Repository) -> None:
    order_alone.edit(ORDER_PLACED, "    total_minor: int\n", "")
    code, said = run(order_alone, "service_platform.contracts", "write", "order")
    assert code == 1
    assert f"{ORDER_PLACED}: order.placed, field total_minor: it was always there and is gone" in said
    assert "publish order.placed.v2 beside it" in said
    assert order_alone.git("status", "--porcelain", "contracts") == ""


def test_it_finds_what_it_reads_beyond_its_copy_of_a_contract(order_alone: Repository) -> None:
    assert run(order_alone, "service_platform.contracts", "check", "order")[0] == 0
    order_alone.edit(
        PAYMENT_SETTLED, "    settled_at: datetime\n", "    settled_at: datetime\n    fee_minor: int = 0\n"
    )
    code, said = run(order_alone, "service_platform.contracts", "check", "order")
    assert code == 1
    assert f"{PAYMENT_SETTLED}: payment.settled, field fee_minor: payment does not send it" in said
    assert "Mend: correct its name or delete it; payment sends order_id, " in said


def test_an_additive_change_from_the_class_to_its_merge(order_alone: Repository) -> None:
    write = ("service_platform.contracts", "write", "order")
    order_alone.git("switch", "--quiet", "--create", "a-channel-for-each-order")
    order_alone.edit(ORDER_PLACED, "    placed_at: datetime\n", "    placed_at: datetime\n    channel: str\n")
    code, said = run(order_alone, *write)
    assert code == 1
    assert "field channel: it is new, and the version is still 1" in said
    assert f"Mend: raise `version` to 2 in {ORDER_PLACED}" in said

    order_alone.edit(ORDER_PLACED, "version: ClassVar[int] = 1", "version: ClassVar[int] = 2")
    code, said = run(order_alone, *write)
    assert code == 0
    assert "written: contracts/order/events.json" in said
    order_alone.commit()

    # Nobody has it before it is merged, so it may still get another name.
    order_alone.edit(ORDER_PLACED, "channel: str", "sales_channel: str")
    assert run(order_alone, *write)[0] == 0
    order_alone.commit()
    order_alone.git("switch", "--quiet", "main")
    order_alone.git("merge", "--quiet", "--ff-only", "a-channel-for-each-order")

    # From now on readers may rely on it.
    order_alone.edit(ORDER_PLACED, "sales_channel: str", "channel: str")
    code, said = run(order_alone, *write)
    assert code == 1
    assert "field sales_channel: it was always there and is gone" in said


def test_the_suites_command_refuses_as_well(tmp_path: Path) -> None:
    suite = copied(["order", "payment", "billing"], tmp_path)
    suite.edit(ORDER_PLACED, 'key_field: ClassVar[str] = "order_id"', 'key_field: ClassVar[str] = "customer_id"')
    code, said = run(suite, "contract_writer", "write", "--contracts", str(suite.contracts))
    assert code == 1
    assert f"{ORDER_PLACED}: order.placed, field customer_id: its key was order_id" in said
    assert suite.git("status", "--porcelain", "contracts") == ""


def test_a_base_that_does_not_exist_ends_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["contract_writer", "check", "--base", "no-such-branch"])
    assert main() == 2
    assert "no-such-branch is neither a folder nor a revision" in capsys.readouterr().err
