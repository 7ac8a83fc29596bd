"""The judge of events: was any lost, made up, carried out of order or not handled, and is all work done?

It calls nothing and knows rows and records only, so that a test can plant any fault and hear it named. Money, orders,
invoices and mails are judged by `demo.reconcile`, and those of orders that were cancelled by `chaos.outcomes`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from demo.disagreement import Disagreement
from demo.reconcile import reconcile
from demo.records import Records

from .evidence import Evidence


@dataclass(frozen=True)
class Objection:
    """What is wrong; `about` are the ids that tell its history."""

    text: str
    about: tuple[str, ...] = ()


def judge(records: Records, evidence: Evidence) -> list[Objection]:
    """Every objection; none means that all agrees. What became of events comes first: the rest may follow from it."""
    order_of = {invoice.number: invoice.order_id for invoice in records.invoices}
    order_of |= {note.number: note.order_id for note in records.credit_notes}
    return [
        *judge_events(evidence),
        *(objection_to(found, order_of) for found in reconcile(records)),
    ]


def objection_to(found: Disagreement, order_of: Mapping[str, str] | None = None) -> Objection:
    """The disagreement of records as an objection, about whatever it names; a document's number names its order."""
    words = [word.strip(",.:;()") for word in str(found).split()]
    named = [word for word in words if word.count("-") == 4 or word.startswith("pi_")]
    return Objection(
        str(found), tuple(named) or tuple(order_of[word] for word in words if order_of and word in order_of)
    )


def judge_events(evidence: Evidence) -> list[Objection]:
    """Every objection about events and unfinished work."""
    return [
        *_lost_or_made_up(evidence),
        *_out_of_order(evidence),
        *_not_handled(evidence),
        *_not_done(evidence),
    ]


def _lost_or_made_up(evidence: Evidence) -> Iterator[Objection]:
    said = {event.event_id: event for event in evidence.said}
    carried = {record.event_id: record for record in evidence.carried}
    for event_id in said.keys() - carried.keys():
        event = said[event_id]
        yield Objection(
            f"event {event.name} {event_id} of key {event.key} was committed and is in no topic", (event_id, event.key)
        )
    for event_id in carried.keys() - said.keys():
        record = carried[event_id]
        yield Objection(
            f"event {event_id} of key {record.key} is in the topic of {record.source}, and nobody committed it",
            (event_id, record.key),
        )


def _out_of_order(evidence: Evidence) -> Iterator[Objection]:
    said = _by_key((event.source, event.key, event.event_id) for event in evidence.said)
    carried = _by_key((record.source, record.key, record.event_id) for record in evidence.carried)
    for key, order in said.items():
        for wanted, seen in zip_longest(order, carried.get(key, ())):
            if wanted != seen and seen is not None and wanted is not None:
                yield Objection(
                    f"{key[0]}'s events of key {key[1]} were carried in another order: {seen} stands where {wanted} "
                    "was committed",
                    (key[1], seen, wanted),
                )
                break


def _not_handled(evidence: Evidence) -> Iterator[Objection]:
    for event in evidence.said:
        for consumer in evidence.readers.get(event.name, ()):
            if event.event_id not in evidence.handled.get(consumer, frozenset()):
                yield Objection(
                    f"consumer {consumer} has not handled event {event.name} {event.event_id} of key {event.key}",
                    (event.event_id, event.key),
                )


def _not_done(evidence: Evidence) -> Iterator[Objection]:
    for what, ids in evidence.unfinished.items():
        if ids:
            yield Objection(f"{what}: {len(ids)} ({', '.join(ids[:3])}), and none should be left", tuple(ids[:1]))


def _by_key(rows: Iterator[tuple[str, str, str]]) -> dict[tuple[str, str], Sequence[str]]:
    """The ids of each source's key, each where it came first."""
    found: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for source, key, event_id in rows:
        found[source, key].setdefault(event_id)
    return {key: tuple(ids) for key, ids in found.items()}
