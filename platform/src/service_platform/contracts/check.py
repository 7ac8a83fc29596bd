"""One service and the folder of contracts beside it: which rules it breaks, and writing what it promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from .base import Base
from .breach import Breach
from .change import breaches_of_change
from .contract import FILE_NAME, EventContract, contracts_text, read_contracts
from .declared import published_by, read_by
from .gaps import gaps
from .reading import breaches_of_reader


def contracts_now(service: str, folder: Path) -> list[EventContract]:
    """What the service's classes promise, with the earlier versions that its file in `folder` remembers."""
    written = {contract.name: contract for contract in read_contracts(folder).get(service, [])}
    return [contract.after(written.get(contract.name)) for contract in published_by(service)]


def refusals(service: str, folder: Path, base: Base) -> list[Breach]:
    """Why the contracts of `service` must not be written as its classes stand; empty if they may be."""
    now = contracts_now(service, folder)
    elsewhere = _of_others(service, folder)
    return [*_ambiguous(service, now, elsewhere), *breaches_of_change(base.contracts.get(service, []), now, elsewhere)]


def breaches(service: str, folder: Path, base: Base) -> list[Breach]:
    """Every rule that `service` breaks. `folder` has its own contracts and those of the services that it reads."""
    now = contracts_now(service, folder)
    published = [*_of_others(service, folder), *now]
    return [
        *refusals(service, folder, base),
        *_stale(now, read_contracts(folder).get(service, []), _file(service, folder)),
        *(breach for reader in read_by(service) for breach in breaches_of_reader(reader, published)),
    ]


def write(service: str, folder: Path) -> Path | None:
    """Write the service's file in `folder` if that changes anything; the path if it did. Ask `refusals` before."""
    path = folder / service / FILE_NAME
    text = contracts_text(contracts_now(service, folder))
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _of_others(service: str, folder: Path) -> list[EventContract]:
    return [contract for source, known in read_contracts(folder).items() if source != service for contract in known]


def _file(service: str, folder: Path) -> str:
    return f"{folder.name}/{service}/{FILE_NAME}"


def _ambiguous(service: str, now: Sequence[EventContract], elsewhere: Sequence[EventContract]) -> Iterator[Breach]:
    """An event has one class, one name and one publisher."""
    taken = {contract.name: contract for contract in elsewhere}
    for contract in now:
        if contract.source != service:
            yield Breach(
                contract.file,
                contract.name,
                f"{service} publishes it, and its class says {contract.source}",
                f'set `source` to "{service}"; a class that reads an event of {contract.source} belongs in '
                f"events/{contract.source}/",
                field="source",
            )
        if contract.name in taken:
            yield Breach(
                contract.file,
                contract.name,
                f"{taken[contract.name].file} has an event of this name already",
                "give this one a name of its own in `event_name`",
            )
        taken[contract.name] = contract


def _stale(now: Sequence[EventContract], written: Sequence[EventContract], file: str) -> Iterator[Breach]:
    if list(now) == list(written):
        return
    before = {contract.name: contract for contract in written}
    for contract in now:
        old = before.pop(contract.name, None)
        if contract != old:
            fields = [] if old is None else _fields_that_differ(old, contract)
            fact = "it does not stand there" if old is None else "it is not what its class says"
            yield Breach(file, contract.name, fact, "run `make contracts` and commit what it writes", ", ".join(fields))
    for name in before:
        yield Breach(file, name, "no class publishes it", "run `make contracts` and commit what it writes")


def _fields_that_differ(old: EventContract, new: EventContract) -> list[str]:
    both = [*gaps(reads=old.payload, says=new.payload), *gaps(reads=new.payload, says=old.payload)]
    return list(dict.fromkeys(gap.field for gap in both))
