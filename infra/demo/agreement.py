"""What the judge asks of any two kinds of records: is there exactly one, and is it the same amount?"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from demo.amounts import dollars
from demo.disagreement import Disagreement, Kind
from demo.run import CURRENCY

RecordT = TypeVar("RecordT")
KeyT = TypeVar("KeyT", bound=Hashable)


def grouped(records: Iterable[RecordT], key: Callable[[RecordT], KeyT]) -> defaultdict[KeyT, list[RecordT]]:
    """The records by key; an unknown key has none."""
    groups: defaultdict[KeyT, list[RecordT]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


def exactly_one(
    records: Sequence[RecordT], subject: str, missing: Kind, double: Kind, name: Callable[[RecordT], str]
) -> Iterator[Disagreement]:
    """Reports `missing` for none and `double` for more than one, by their names."""
    if not records:
        yield Disagreement(missing, subject, "one", "none")
    elif len(records) > 1:
        names = ", ".join(sorted(name(record) for record in records))
        yield Disagreement(double, subject, "one", f"{len(records)}: {names}")


def repeated(told: Iterable[str]) -> list[str]:
    """What is told more than once."""
    return [text for text, times in Counter(told).items() if times > 1]


def same_amount(
    kind: Kind, subject: str, expected_cents: int, seen_minor: int, seen_currency: str
) -> Iterator[Disagreement]:
    """Reports `kind` for another amount or another currency; the provider writes currencies in small letters."""
    if (seen_minor, seen_currency.upper()) != (expected_cents, CURRENCY):
        yield Disagreement(
            kind,
            subject,
            f"{dollars(expected_cents)} {CURRENCY}",
            f"{dollars(seen_minor)} {seen_currency.upper()} ({seen_minor} minor units)",
        )
