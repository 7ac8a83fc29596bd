"""The classes of a service are found where they belong, exported or not, and a missing package is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from service_platform.contracts import published_by, read_by

EVENT = """
from typing import ClassVar
from service_platform.event_bus import Event

class {class_name}(Event):
    event_name: ClassVar[str] = "{name}"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "{source}"
    key_field: ClassVar[str] = "parcel_id"
    parcel_id: str
"""

CONSUMER = """
from typing import ClassVar
from {package}.events.order.order_placed import OrderPlaced
from service_platform.event_bus import Consumer, Delivery, Event

class ShipOnOrderPlaced(Consumer[OrderPlaced]):
    name: ClassVar[str] = "same-day.ship"
    event: ClassVar[type[Event]] = OrderPlaced

    async def handle(self, delivery: Delivery[OrderPlaced]) -> None: ...
"""


def written(package: Path, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for folder in path.parents:
            if package in (folder, *folder.parents):
                (folder / "__init__.py").touch()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that can be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_classes_and_consumers_are_found_without_being_exported(source: Path) -> None:
    sent = EVENT.format(class_name="ParcelSent", name="parcel.sent", source="same-day")
    placed = EVENT.format(class_name="OrderPlaced", name="order.placed", source="order")
    written(
        source / "same_day_service",
        {
            "events/parcel_sent.py": sent,
            "events/parcel_lost.py": "from .parcel_sent import ParcelSent\n",
            "events/order/order_placed.py": placed,
            "events/order/order_paid.py": EVENT.format(class_name="OrderPaid", name="order.paid", source="order"),
            "reactors/ship.py": CONSUMER.format(package="same_day_service"),
        },
    )
    assert [contract.name for contract in published_by("same-day")] == ["parcel.sent"]
    read = {reader.name: reader.consumers for reader in read_by("same-day")}
    assert read == {"order.placed": ("same-day.ship",), "order.paid": ()}


def test_a_service_that_only_publishes_or_only_listens_or_neither_is_fine(source: Path) -> None:
    sent = EVENT.format(class_name="ParcelSent", name="parcel.sent", source="telling")
    written(source / "telling_service", {"events/parcel_sent.py": sent})
    written(source / "silent_service", {"settings.py": ""})
    assert [contract.name for contract in published_by("telling")] == ["parcel.sent"]
    assert read_by("telling") == read_by("silent") == published_by("silent") == []
