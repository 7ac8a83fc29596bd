"""`python -m bench`: what `make bench` runs."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from native.errors import StackError

from . import report
from .contestants import CONTESTANTS
from .debezium_jars import write_lock
from .job_systems import JOB_SYSTEMS
from .lab import Lab
from .measurements import MEASUREMENTS
from .plan import QUICK, Plan
from .results import Results
from .settings import BenchSettings

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
    rows: Annotated[int | None, typer.Option(help="Rows to drain.", min=100)] = None,
    sent: Annotated[int, typer.Option(help="Also drain with so many sent rows in the table.", min=0)] = 0,
    repeats: Annotated[int | None, typer.Option(help="How often everything is measured.", min=1)] = None,
) -> None:
    """Measure the suite against its limits and its peers, all in one run."""
    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    began = time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - began:6.1f} s[/]  {text}", soft_wrap=True)

    names = _known(only.replace(",", " ").split(), list(MEASUREMENTS))
    everyone = dict.fromkeys([*(kind.name for kind in CONTESTANTS), *(kind.name for kind in JOB_SYSTEMS)])
    chosen = _known([name.strip() for name in contestants.split(",")], list(everyone))
    size = QUICK if quick else Plan()
    plan = replace(size, rows=rows or size.rows, sent=sent, repeats=repeats or size.repeats, say=say, only=chosen)
    settings, results = BenchSettings(), Results()
    lab = Lab(settings, say=say)
    try:
        lab.open()
        asyncio.run(_measure(lab, names, plan, results))
    except KeyboardInterrupt:
        say("stopped; this is what was measured until then")
    except StackError as error:
        console.print(f"[red]{error}[/]\n[bold]{error.mend}[/]", soft_wrap=True)
        raise typer.Exit(1) from error
    finally:
        lab.close()
    report.show(console, results)
    say(f"written to {report.write(results, settings.state_dir)}")


def _known(wanted: list[str], known: list[str]) -> list[str]:
    """Those that were asked for, in the order of `known`; all when none was."""
    asked = {name for name in wanted if name}
    if unknown := asked - set(known):
        raise typer.BadParameter(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    return [name for name in known if name in asked] or known


async def _measure(lab: Lab, names: list[str], plan: Plan, results: Results) -> None:
    contestants = []
    for contestant in (kind(lab) for kind in CONTESTANTS if kind.name in plan.only):
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
