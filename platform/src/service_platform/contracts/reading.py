"""The rules for reading another service's event.

A reader may leave out what it does not need and take more than is sent, never the other way round. Its `version` is the
lowest that it reads, and it must be able to read every one from there on: when a reader of today starts, messages of
earlier versions are still under way in topics, retries and dead letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .breach import Breach
from .contract import EventContract
from .declared import Reader
from .gaps import Gap, GapKind, gaps


def breaches_of_reader(reader: Reader, published: Iterable[EventContract]) -> list[Breach]:
    """What of `reader` does not lie within `published`, the contracts of all services."""
    contract = {contract.name: contract for contract in published}.get(reader.name)
    return [*_of_consumers(reader), *_of_declaration(reader, contract)]


def _of_consumers(reader: Reader) -> Iterator[Breach]:
    if reader.service == reader.source:
        yield _breach(
            reader,
            f"{reader.service} consumes its own event",
            "do the work in the transaction that publishes it, with one synchronous call",
        )
    if not reader.consumers:
        yield _breach(
            reader,
            f"{reader.service} has a class for it and no consumer",
            "write one in reactors/ and hand it to the engine in bootstrap.py, or delete the class",
        )


def _of_declaration(reader: Reader, contract: EventContract | None) -> Iterator[Breach]:
    if contract is None:
        yield _breach(
            reader,
            f"contracts/{reader.source}/events.json does not have it",
            "correct `event_name` to a name that stands there, or bring your copy of that file up to date",
        )
    elif contract.source != reader.source:
        yield _breach(
            reader,
            f"it is read as an event of {reader.source}, and {contract.source} publishes it",
            f'set `source` to "{contract.source}"',
            field="source",
        )
    elif contract.key != reader.key:
        yield _breach(
            reader,
            f"it is read as ordered by {reader.key}, and its key is {contract.key}",
            f'set `key_field` to "{contract.key}"',
            field=reader.key,
        )
    elif contract.version < reader.version:
        yield _breach(
            reader,
            f"it is read from version {reader.version} on, and {contract.source} sends version {contract.version}",
            f"set `version` to {contract.version} or lower, or bring your copy of {contract.file} up to date",
            field="version",
        )
    else:
        yield from _of_payload(reader, contract) or _of_earlier_payloads(reader, contract)


def _of_payload(reader: Reader, contract: EventContract) -> list[Breach]:
    return [_unreadable(reader, contract, gap) for gap in gaps(reads=reader.payload, says=contract.payload)]


def _of_earlier_payloads(reader: Reader, contract: EventContract) -> list[Breach]:
    """An optional field that only later versions have is how a reader of both looks, so that is no breach."""
    unreadable = {}
    for version, payload in contract.earlier.items():
        found = [gap for gap in gaps(reads=reader.payload, says=payload) if gap.kind is not GapKind.UNKNOWN]
        if found and version >= reader.version:
            unreadable[version] = found
    if not unreadable:
        return []
    return [
        _too_new(reader, min(unreadable), gap, readable_from=max(unreadable) + 1) for gap in unreadable[min(unreadable)]
    ]


def _breach(reader: Reader, fact: str, mend: str, field: str = "") -> Breach:
    return Breach(reader.file, reader.name, fact, mend, field)


def _unreadable(reader: Reader, contract: EventContract, gap: Gap) -> Breach:
    sent = f"{contract.source} sends {', '.join(contract.payload.get('properties', {}))}"
    fact, mend = {
        GapKind.MISSING: (f"{contract.source} does not send it", f"correct its name or delete it; {sent}"),
        GapKind.UNKNOWN: (f"{contract.source} does not send it", f"correct its name or delete it; {sent}"),
        GapKind.OPTIONAL: (
            f"{contract.source} may leave it out, and {reader.service} requires it",
            "give it a default",
        ),
        GapKind.WIDER: (
            f"{contract.source} can send {gap.says}, and {reader.service} reads only {gap.reads}",
            "widen its type in this class" + (": `… | None`" if gap.says == "null" else ""),
        ),
        GapKind.CLOSED: (
            f"{reader.service} refuses fields that it does not know, as {contract.source} may add any day",
            'take `extra="forbid"` away',
        ),
    }[gap.kind]
    return _breach(reader, fact, mend, gap.field)


def _too_new(reader: Reader, version: int, gap: Gap, *, readable_from: int) -> Breach:
    fact = {
        GapKind.MISSING: "did not have it",
        GapKind.OPTIONAL: "could leave it out",
        GapKind.WIDER: f"could say {gap.says}",
    }
    return _breach(
        reader,
        f"version {version}, of which messages may still be under way, {fact[gap.kind]}",
        f"let it take that (a default, a wider type), or set `version` to {readable_from} once they are gone",
        gap.field,
    )
