"""The rules for changing an event.

Readers of the event as it was must be able to read it as it is: they are other services, deployed at other times.

| change | verdict |
| --- | --- |
| a title, a description, an example | none: the contract stays what it was |
| a new field; a type that carries less than before; a field that is now always there | additive: `version` plus one |
| a field taken away, or not always there any more; a type that carries other or more values | breaking |
| another key field, another publisher | breaking |
| the event taken away | breaking, unless it stood there as deprecated before |

A breaking change is a new event beside the old one (`order.placed.v2`) until nobody reads the old one any more.
`docs/events.md` goes through both kinds step by step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from .breach import Breach
from .contract import EventContract
from .facets import Schema
from .gaps import Gap, GapKind, gaps


def breaches_of_change(
    before: Iterable[EventContract], now: Iterable[EventContract], elsewhere: Iterable[EventContract] = ()
) -> list[Breach]:
    """What of `now` breaks a reader of `before`; `elsewhere` is what other services publish now."""
    published = {contract.name: contract for contract in [*elsewhere, *now]}
    return [breach for old in before for breach in _of_event(old, published.get(old.name))]


def next_name(name: str) -> str:
    """The name of an event's successor: `order.placed.v2` for `order.placed`."""
    numbered = re.fullmatch(r"(.+)\.v([0-9]+)", name)
    return f"{numbered[1]}.v{int(numbered[2]) + 1}" if numbered else f"{name}.v2"


def _of_event(old: EventContract, new: EventContract | None) -> Iterator[Breach]:
    if new is None:
        if not old.is_deprecated:
            yield _removed(old)
    elif new.source != old.source:
        yield _moved(old, new)
    elif new.key != old.key:
        yield _other_key(old, new)
    elif new.version < old.version:
        yield _wrong_version(new, f"its version went from {old.version} down to {new.version}", old.version)
    else:
        yield from _of_versions(old, new)


def _of_versions(old: EventContract, new: EventContract) -> Iterator[Breach]:
    """From the version that readers know to the new one, each adds to the one before."""
    for version, payload in old.payloads.items():
        if version < new.version and _differs(payload, new.payloads.get(version, {})):
            yield _rewritten(new, version)
            return
    later = range(old.version + 1, new.version + 1)
    if skipped := [version for version in later if version not in new.payloads]:
        yield _wrong_version(new, f"its version jumped from {old.version} to {new.version}", skipped[0])
        return
    for before, now in pairwise([old.payload, *(new.payloads[version] for version in later or [new.version])]):
        broken = gaps(reads=before, says=now)
        gained = gaps(reads=now, says=before)
        if broken:
            yield from (_broken(new, gap) for gap in broken)
        elif gained and not later:
            yield from (_gained(new, gap) for gap in gained)
        elif later and not gained:
            yield _wrong_version(new, f"its version went up to {new.version}, but it says nothing new", new.version - 1)


def _differs(one: Schema, other: Schema) -> bool:
    return bool(gaps(one, other) or gaps(other, one))


def _removed(old: EventContract) -> Breach:
    return Breach(
        old.file,
        old.name,
        f"{old.source} does not publish it any more",
        "put its class back; an event leaves in two merges (docs/events.md): first deprecated, then its class deleted",
    )


def _moved(old: EventContract, new: EventContract) -> Breach:
    return Breach(
        new.file,
        old.name,
        f"its source was {old.source} and is now {new.source}, which is another topic than its readers listen to",
        f"let {old.source} publish it, or let {new.source} publish {next_name(old.name)} beside it",
        field="source",
    )


def _other_key(old: EventContract, new: EventContract) -> Breach:
    return Breach(
        new.file,
        new.name,
        f"its key was {old.key} and is now {new.key}, so it loses its order with the events that it followed",
        f"set `key_field` back to {old.key}, or publish {next_name(new.name)} with the new key beside it",
        field=new.key,
    )


def _wrong_version(new: EventContract, fact: str, right: int) -> Breach:
    return Breach(new.file, new.name, fact, f"set `version` to {right} in {new.file}", field="version")


def _rewritten(new: EventContract, version: int) -> Breach:
    return Breach(
        new.file,
        new.name,
        f"the contract's memory of version {version} is not what version {version} was",
        f"take contracts/{new.source}/events.json from the main branch again and run `make contracts`",
        field="earlier",
    )


def _gained(new: EventContract, gap: Gap) -> Breach:
    fact = {
        GapKind.MISSING: "it is new",
        GapKind.UNKNOWN: "it is new",
        GapKind.OPTIONAL: "it is now always there",
        GapKind.WIDER: f"it could be {gap.says} and is now only {gap.reads}",
        GapKind.CLOSED: "it takes no other fields any more",
    }[gap.kind]
    return Breach(
        new.file,
        new.name,
        f"{fact}, and the version is still {new.version}",
        f"raise `version` to {new.version + 1} in {new.file}",
        field=gap.field,
    )


def _broken(new: EventContract, gap: Gap) -> Breach:
    fact, mend = {
        GapKind.MISSING: ("it was always there and is gone", "put it back"),
        GapKind.UNKNOWN: ("it was there and is gone", "put it back"),
        GapKind.OPTIONAL: (
            "it was always there and may now be left out (a field with a default counts as one that may)",
            "take its default away",
        ),
        GapKind.WIDER: (f"it was {gap.reads} and can now be {gap.says}", "give it its old type and add a new field"),
        GapKind.CLOSED: ("it takes no other fields any more", "take `extra` away"),
    }[gap.kind]
    return Breach(
        new.file,
        new.name,
        f"{fact}: readers of the event as it was cannot read it",
        f"{mend}, or publish {next_name(new.name)} beside it (docs/events.md, “A breaking change”)",
        field=gap.field,
    )
