"""The files under contracts/ hold for the suite as it is, and what shows only in the whole of it is found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from contract_lab import order_placed

from contract_writer import suite
from service_platform import contracts
from service_platform.contracts import Base, Breach, Reader, contract_of, contracts_text, reader_of

NOTHING = Base({}, "nothing")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of contracts/ to plant faults in."""
    return Path(shutil.copytree(suite.FOLDER, tmp_path / "contracts"))


def breaches_about(folder: Path, file: str) -> list[Breach]:
    return [breach for breach in suite.breaches(folder, NOTHING) if breach.file.endswith(file)]


def test_the_suite_keeps_every_rule() -> None:
    assert suite.breaches(suite.FOLDER, NOTHING) == []


def test_writing_twice_writes_the_same(folder: Path) -> None:
    assert suite.write(folder) == []
    shutil.rmtree(folder)
    suite.write(folder)
    assert suite.breaches(folder, NOTHING) == []
    for path in folder.rglob("*.*"):
        assert path.read_text(encoding="utf-8") == (suite.FOLDER / path.relative_to(folder)).read_text(encoding="utf-8")


def test_a_contract_that_is_not_what_its_class_says_names_the_field(folder: Path) -> None:
    path = folder / "order" / "events.json"
    path.write_text(path.read_text(encoding="utf-8").replace("total_minor", "total"), encoding="utf-8")
    stale = [
        breach
        for breach in breaches_about(folder, "order/events.json")
        if breach.fact == "it is not what its class says"
    ]
    assert [(breach.event, breach.field) for breach in stale] == [("order.placed", "total, total_minor")]
    assert "make contracts" in stale[0].mend


def test_an_event_in_a_contract_that_no_class_publishes_is_found(folder: Path) -> None:
    """A class that was deleted, and `make contracts` forgotten."""
    path = folder / "order" / "events.json"
    known = contracts.read_contracts(folder)["order"]
    path.write_text(contracts_text([contract_of(order_placed(name="order.gone")), *known]), encoding="utf-8")
    (breach,) = breaches_about(folder, "order/events.json")
    assert (breach.event, breach.fact) == ("order.gone", "no class publishes it")
    assert "make contracts" in breach.mend


@pytest.mark.parametrize("name", ["order/openapi.json", "asyncapi.yaml"])
def test_a_description_that_is_not_what_the_code_says_is_found(folder: Path, name: str) -> None:
    (folder / name).write_text("{}", encoding="utf-8")
    (breach,) = breaches_about(folder, name)
    assert "make contracts" in breach.mend


def test_a_folder_of_a_service_that_is_gone_is_found(folder: Path) -> None:
    (folder / "shipping").mkdir()
    (breach,) = breaches_about(folder, "contracts/shipping")
    assert breach.mend == "delete the folder"


class TestOneServiceSaysWhatAnotherDoesNotHear:
    @pytest.fixture(autouse=True)
    def _only_order_publishes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.readers: list[Reader] = []
        self.published = [contract_of(order_placed())]
        monkeypatch.setattr(contracts, "read_by", lambda service: self.readers if service == "payment" else [])
        monkeypatch.setattr(
            contracts, "contracts_now", lambda service, _folder: self.published if service == "order" else []
        )

    def test_an_event_that_no_other_service_consumes_is_found(self, folder: Path) -> None:
        (breach,) = suite.unread(folder)
        assert (breach.event, breach.fact) == ("order.placed", "no other service consumes it")
        assert "a consumer in its reactors/" in breach.mend

    def test_one_that_is_consumed_is_not(self, folder: Path) -> None:
        self.readers = [reader_of("payment", order_placed(), ["payment.open-payment"])]
        assert list(suite.unread(folder)) == []

    def test_nor_is_one_on_its_way_out(self, folder: Path) -> None:
        self.published = [contract_of(order_placed(config={"json_schema_extra": {"deprecated": True}}))]
        assert list(suite.unread(folder)) == []


class TestTheClassesOfOneService:
    """What a copied class file leaves behind."""

    @pytest.fixture(autouse=True)
    def _order_declares(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.published = [contract_of(order_placed())]
        monkeypatch.setattr("service_platform.contracts.check.published_by", lambda _service: self.published)

    def refused(self, folder: Path) -> list[Breach]:
        return contracts.refusals("order", folder, NOTHING)

    def test_two_classes_of_one_name_are_refused(self, folder: Path) -> None:
        self.published *= 2
        (breach,) = self.refused(folder)
        assert breach.event == "order.placed"
        assert "`event_name`" in breach.mend

    def test_a_name_that_another_service_has_is_refused(self, folder: Path) -> None:
        (folder / "billing" / "events.json").write_text(
            contracts_text([contract_of(order_placed(source="billing"))]), encoding="utf-8"
        )
        (breach,) = self.refused(folder)
        assert breach.fact == "contracts/billing/events.json has an event of this name already"

    def test_a_class_that_says_another_service_is_refused(self, folder: Path) -> None:
        self.published = [contract_of(order_placed(name="order.sent", source="payment"))]
        (breach,) = self.refused(folder)
        assert breach.field == "source"
        assert 'set `source` to "order"' in breach.mend
        assert "events/payment/" in breach.mend
