"""`python -m bench`: what `make bench` runs."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import typer
from rich.console import Console

from native.errors import StackError

from . import report
from .contestants import CONTESTANTS
from .debezium_jars import write_lock
from .lab import Lab
from .measurements import MEASUREMENTS
from .plan import Plan
from .results import Results
from .settings import BenchSettings

_QUICK_ROWS = 10_000
_FLOW_SECONDS, _QUICK_FLOW_SECONDS = 10.0, 5.0
_MESSAGES, _QUICK_MESSAGES = 10_000, 2_000
_IDLE_SECONDS, _QUICK_IDLE_SECONDS = 30.0, 10.0
_WIDTH = 120  # the tables' figures are not to be cut where nothing says how wide the terminal is

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def lock_debezium() -> None:
    """Resolve Debezium's jars anew and write their lock."""
    typer.echo(f"{write_lock()} jars locked")


@app.command()
def run(
    *,
    only: Annotated[str, typer.Option(help=f"Measurements, of: {' '.join(MEASUREMENTS)}. Empty: all.")] = "",
    contestants: Annotated[str, typer.Option(help="Contestants by name, separated by commas. Empty: all.")] = "",
    quick: Annotated[bool, typer.Option(help="A small run of a few minutes; its figures say little.")] = False,
    rows: Annotated[int, typer.Option(help="Rows to drain.", min=100)] = 50_000,
    sent: Annotated[int, typer.Option(help="Also drain with so many sent rows in the table.", min=0)] = 0,
    repeats: Annotated[int, typer.Option(help="How often everything is measured.", min=1)] = 3,
) -> None:
    """Measure the suite against its limits and its peers, all in one run."""
    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    began = time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - began:6.1f} s[/]  {text}", soft_wrap=True)

    wanted = only.replace(",", " ").split()
    if unknown := set(wanted) - set(MEASUREMENTS):
        raise typer.BadParameter(f"there is no {', '.join(sorted(unknown))}: {', '.join(MEASUREMENTS)}")
    plan = Plan(
        rows=min(rows, _QUICK_ROWS) if quick else rows,
        sent=sent,
        repeats=1 if quick else repeats,
        flow_seconds=_QUICK_FLOW_SECONDS if quick else _FLOW_SECONDS,
        messages=_QUICK_MESSAGES if quick else _MESSAGES,
        idle_seconds=_QUICK_IDLE_SECONDS if quick else _IDLE_SECONDS,
        only=tuple(name.strip() for name in contestants.split(",") if name.strip()),
        say=say,
    )
    settings, results = BenchSettings(), Results()
    lab = Lab(settings, say=say)
    try:
        lab.open()
        asyncio.run(_measure(lab, wanted or list(MEASUREMENTS), plan, results))
    except StackError as error:
        console.print(f"[red]{error}[/]\n[bold]{error.mend}[/]", soft_wrap=True)
        raise typer.Exit(1) from error
    finally:
        lab.close()
    report.show(console, results)
    say(f"written to {report.write(results, settings.state_dir)}")


async def _measure(lab: Lab, names: list[str], plan: Plan, results: Results) -> None:
    contestants = []
    for contestant in (kind(lab) for kind in CONTESTANTS if plan.wants(kind.name)):
        if reason := contestant.missing():
            results.leave_out("everything", contestant.name, reason)
            plan.say(f"{contestant.name} is left out: {reason}")
        else:
            contestants.append(contestant)
    try:
        for name in names:
            await MEASUREMENTS[name].measure(lab, contestants, plan, results)
    finally:
        for contestant in contestants:
            await contestant.close()


if __name__ == "__main__":
    app()
