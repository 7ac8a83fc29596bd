"""Taking the tax out of a gross price, in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

_ONE: Final = 10_000
"""A rate of 100 %, in basis points."""


class Taxed(Protocol):
    """Anything with a gross amount and a rate."""

    @property
    def gross_minor(self) -> int: ...
    @property
    def tax_rate_bp(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxTotal:
    """What the lines of one rate come to, in minor units: net and tax add up to gross."""

    tax_rate_bp: int
    net_minor: int
    tax_minor: int
    gross_minor: int


def tax_within(gross_minor: int, tax_rate_bp: int) -> int:
    """The tax that `gross_minor` (not negative) contains at `tax_rate_bp`, rounded half up to a whole minor unit."""
    divisor = _ONE + tax_rate_bp
    return (2 * gross_minor * tax_rate_bp + divisor) // (2 * divisor)


def tax_totals(lines: Sequence[Taxed]) -> list[TaxTotal]:
    """The lines' tax by rate, lowest rate first.

    Tax is rounded once a line and then added up, so that what a line says is what its total holds. Rounding the sum
    of a rate instead can differ by half a minor unit a line.
    """
    totals: dict[int, tuple[int, int]] = {}
    for line in lines:
        tax_minor, gross_minor = totals.get(line.tax_rate_bp, (0, 0))
        totals[line.tax_rate_bp] = (
            tax_minor + tax_within(line.gross_minor, line.tax_rate_bp),
            gross_minor + line.gross_minor,
        )
    return [
        TaxTotal(tax_rate_bp=rate, net_minor=gross - tax, tax_minor=tax, gross_minor=gross)
        for rate, (tax, gross) in sorted(totals.items())
    ]
