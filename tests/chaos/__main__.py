"""`python -m chaos`: one run, or several with seeds that follow each other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from native.errors import StackError
from native.go_tools import NoGo
from native.layout import ROOT

from .ground import prepared
from .run import run_chaos
from .toxiproxy import TOXIPROXY

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    *,
    duration: Annotated[float, typer.Option(help="Seconds of storm.", min=1, max=3600)] = 120.0,
    seed: Annotated[int, typer.Option(help="Decides what is struck, how and when.")] = 7,
    rate: Annotated[float, typer.Option(help="Orders a second.", min=0.1, max=50)] = 3.0,
    state: Annotated[Path, typer.Option(help="The stack's folder.")] = ROOT / ".fencepost" / "chaos",
    port_base: Annotated[int, typer.Option(envvar="FENCEPOST_CHAOS_PORT_BASE")] = 30000,
) -> None:
    """Play real purchases while processes, servers and connections are struck by the seed's schedule; then judge."""
    console = Console(highlight=False, markup=False)

    def say(text: str) -> None:
        console.print(text, soft_wrap=True)

    try:
        toxiproxy = TOXIPROXY.program()
    except NoGo as missing:
        say(f"{missing}: connections are neither cut nor slowed.")
        toxiproxy = None
    try:
        with prepared(state, port_base, toxiproxy=toxiproxy, say=say) as ground:
            verdict = asyncio.run(run_chaos(ground, seed=seed, duration=duration, a_second=rate, told=say))
    except StackError as error:
        say(f"{error}\n{error.mend}")
        raise typer.Exit(2) from error
    say(str(verdict))
    raise typer.Exit(0 if verdict.stands else 1)


if __name__ == "__main__":
    app()
