"""Document numbers: no gap and no double, in each series by itself."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from demo.disagreement import Disagreement, Kind

# "INV-2026-000042": all before the last run of digits names the series and year.
_NUMBER = re.compile(r"(.*\D)(\d+)")


def judge_numbers(numbers: Iterable[str]) -> Iterator[Disagreement]:
    """Over all numbers ever issued: each series counts 1, 2, 3 … without a gap, and no number stands twice."""
    series: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, times in Counter(numbers).items():
        if times > 1:
            yield Disagreement(Kind.NUMBER_DOUBLE, f"number {number}", "one document", f"{times} documents")
        if match := _NUMBER.fullmatch(number):
            series[match[1]].append((int(match[2]), number))
        else:
            yield Disagreement(Kind.NUMBER_UNREADABLE, "a document's number", "a series and a count", repr(number))
    for prefix, counts in series.items():
        for (before, _), (after, number) in pairwise([(0, ""), *sorted(counts)]):
            if after != before + 1:
                seen = f"{after} ({number})"
                yield Disagreement(Kind.NUMBER_GAP, f"numbers {prefix}", f"{before + 1} after {before}", seen)
