"""The real purchases of `data/cdnow_sample.txt`, and the facts that the file must show before anything trusts it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

SAMPLE = Path(__file__).parent / "data" / "cdnow_sample.txt"


class PurchasesUnreadable(Exception):
    """The file of purchases is not the one whose facts are known."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """One line of the file: `line` counts from 1 and is the purchase's identity, `cents` is the amount in US cents.

    Lines that stand twice to the letter are different purchases, so nothing but the line number tells them apart.
    """

    line: int
    customer: str
    bought_on: date
    cds: int
    cents: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What was counted from the file once; the replay of the whole file is judged against it."""

    purchases: int
    customers: int
    cds: int
    cents: int
    free: int
    lines_standing_twice: int


FACTS = Facts(purchases=6_919, customers=2_357, cds=16_479, cents=24_409_194, free=8, lines_standing_twice=19)


def read_purchases(path: Path = SAMPLE) -> tuple[Purchase, ...]:
    """Reads every purchase of the sample, in the file's order.

    Raises `PurchasesUnreadable` when a line cannot be read or the facts of the file are not those of `FACTS`.
    """
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise PurchasesUnreadable(f"{path}: {error}") from error
    lines = text.splitlines()
    purchases = tuple(parse_line(number, line) for number, line in enumerate(lines, start=1))
    seen = count_facts(purchases, lines)
    if seen != FACTS:
        raise PurchasesUnreadable(f"{path} is not the known sample: expected {FACTS}, counted {seen}")
    return purchases


def parse_line(number: int, line: str) -> Purchase:
    """Parses one line of five blank-separated columns; raises `PurchasesUnreadable` naming the line."""
    try:
        customer, _sample_customer, day, cds, dollars = line.split()
        bought_on = datetime.strptime(day, "%Y%m%d").date()  # noqa: DTZ007 - the log has dates only
        return Purchase(number, customer, bought_on, int(cds), cents(dollars))
    except (ValueError, ArithmeticError) as error:
        raise PurchasesUnreadable(f"line {number}: {line!r}: {error}") from error


def cents(dollars: str) -> int:
    """Turns "29.33" into 2933, exactly; raises `ValueError` for a negative amount or a fraction of a cent."""
    amount = Decimal(dollars) * 100
    if amount != int(amount) or amount < 0:
        raise ValueError(f"{dollars} is not an amount of whole cents")
    return int(amount)


def count_facts(purchases: Sequence[Purchase], lines: Sequence[str]) -> Facts:
    """Counts what `FACTS` states."""
    return Facts(
        purchases=len(purchases),
        customers=len({purchase.customer for purchase in purchases}),
        cds=sum(purchase.cds for purchase in purchases),
        cents=sum(purchase.cents for purchase in purchases),
        free=sum(purchase.cents == 0 for purchase in purchases),
        lines_standing_twice=sum(times > 1 for times in Counter(lines).values()),
    )
