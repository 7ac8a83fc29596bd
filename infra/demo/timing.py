"""How fast a run went, from public times and the client's clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from demo.reconcile import orders_of_run
from demo.records import Records


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from POST sent (its first try) to invoice issued."""

    p50: float
    p95: float
    p99: float
    orders: int


@dataclass(frozen=True, slots=True)
class Timing:
    """`posting` is the seconds from the first POST to the last answer, `settling` those to the last mail or invoice.

    Orders that were placed before they were posted belong to an earlier playing of the same run id and have no
    latency; `latency` is None when none is left.
    """

    orders: int
    posting: float
    settling: float
    latency: Latency | None


def time_run(records: Records, started_at: datetime, posted_at: datetime) -> Timing:
    """`started_at` and `posted_at` are the client's clock before the first POST and after the last answer."""
    orders = orders_of_run(records)
    invoices = {invoice.order_id: invoice for invoice in records.invoices if invoice.order_id in orders}
    ends = chain.from_iterable((invoice.issued_at, invoice.mailed_at) for invoice in invoices.values())
    last = max((end for end in ends if end is not None), default=posted_at)
    waits = sorted(
        (invoices[answer.order_id].issued_at - answer.posted_at).total_seconds()
        for answer in records.answers
        if answer.order_id in invoices
    )
    fresh = [wait for wait in waits if wait > 0]
    return Timing(
        orders=len(orders),
        posting=(posted_at - started_at).total_seconds(),
        settling=(max(last, posted_at) - started_at).total_seconds(),
        latency=_latency(fresh),
    )


def _latency(waits: Sequence[float]) -> Latency | None:
    if not waits:
        return None
    p50, p95, p99 = (_percentile(waits, share) for share in (0.50, 0.95, 0.99))
    return Latency(p50, p95, p99, orders=len(waits))


def _percentile(ascending: Sequence[float], share: float) -> float:
    """Nearest rank: the smallest value that at least this share of all do not exceed."""
    rank = -(-len(ascending) * share // 1)
    return ascending[max(int(rank), 1) - 1]
