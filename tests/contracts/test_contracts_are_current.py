"""The files under contracts/ are what the code says, and every published event is read by another service."""

from __future__ import annotations

import pytest

from contract_writer.documents import SERVICES, documents, events
from world.patterns import ROOT


@pytest.mark.parametrize("service", SERVICES)
def test_the_contract_files_are_what_the_code_says(service: str) -> None:
    stale = [
        path.relative_to(ROOT)
        for path, text in documents(service)
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"{', '.join(map(str, stale))}: run `make contracts` and look at what changes for the readers"


@pytest.mark.parametrize("service", SERVICES)
def test_every_event_has_a_reader_in_another_service(service: str) -> None:
    for event in events(service):
        file = event["name"].replace(".", "_") + ".py"
        readers = list(ROOT.glob(f"services/*/src/*/events/{service}/{file}"))
        assert readers, f"nobody reads {event['name']}: an event that no other service consumes does not exist"
