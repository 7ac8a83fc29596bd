"""What a person reads at the end: a journey, or the outcome of a replay."""

from rich.console import Console
from rich.table import Table

from demo.amounts import dollars
from demo.journey import Journey
from demo.replay import Outcome
from demo.suite import Suite
from demo.timing import Timing
from demo.totals import totals

_SHOWN = 20


def show_journey(console: Console, journey: Journey) -> None:
    table = Table(title=f"One order of {journey.customer_id}, seconds since POST", title_justify="left")
    table.add_column("hop", no_wrap=True)
    table.add_column("happened", justify="right", no_wrap=True)
    table.add_column("seen", justify="right", no_wrap=True)
    table.add_column("what the public API shows", overflow="fold")
    for hop in journey.hops:
        table.add_row(hop.name, f"{hop.happened:.3f}", f"{hop.seen:.3f}", hop.detail)
    console.print(table)
    for hop in journey.hops:
        _line(console, f"  {hop.name + ':':<18}{hop.url}")


def show_addresses(console: Console, suite: Suite) -> None:
    """Every address of the suite that a person may want to open."""
    _line(console, "The suite's addresses (requests need a token: make token SUB=… SCOPES=…; see docs/requests.http)")
    for name, url in (
        ("order API", f"{suite.order_url}/docs"),
        ("payment API", f"{suite.payment_url}/docs"),
        ("billing API", f"{suite.billing_url}/docs"),
        ("metrics", ", ".join(f"{url}/metrics" for url in (suite.order_url, suite.payment_url, suite.billing_url))),
        ("provider ledger", f"{suite.provider_url}/_double/ledger"),
        ("mailbox", f"{suite.mail_url}/"),
    ):
        _line(console, f"  {name + ':':<18}{url}")


def show_outcome(console: Console, outcome: Outcome) -> None:
    table = Table(title=f"Run {outcome.records.run.id}", title_justify="left")
    table.add_column("what")
    table.add_column("how many", justify="right")
    table.add_column("US dollars", justify="right")
    for total in totals(outcome.records):
        table.add_row(total.name, f"{total.count:,}", "" if total.cents is None else dollars(total.cents))
    console.print(table)
    _show_timing(console, outcome.timing)
    if outcome.stood_still is not None:
        _line(console, f"Not settled: {outcome.stood_still}")
    for disagreement in outcome.disagreements[:_SHOWN]:
        _line(console, f"DISAGREES  {disagreement}")
    if len(outcome.disagreements) > _SHOWN:
        _line(console, f"… and {len(outcome.disagreements) - _SHOWN} more disagreements")
    if outcome.agrees:
        _line(console, "Reconciled: orders, payments, captures, invoices and mails agree one to one and to the cent;")
        _line(console, f"no gap and no double in all {len(outcome.records.invoices):,} invoice numbers.")
    else:
        _line(console, f"NOT reconciled: {len(outcome.disagreements)} disagreements.")


def _show_timing(console: Console, timing: Timing) -> None:
    for name, seconds in (("placed", timing.posting), ("settled", timing.settling)):
        rate = timing.orders / seconds if seconds > 0 else 0.0
        _line(console, f"{timing.orders:,} orders {name} in {seconds:.1f} s: {rate:.1f} orders a second")
    if (latency := timing.latency) is not None:
        _line(
            console,
            f"POST sent to invoice issued: p50 {latency.p50:.2f} s, p95 {latency.p95:.2f} s, p99 {latency.p99:.2f} s"
            f" (of {latency.orders:,} orders)",
        )


def _line(console: Console, text: str) -> None:
    """Text as it is: addresses and ids are neither coloured nor broken, so that they can be copied."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
