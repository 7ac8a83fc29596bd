"""`python -m demo`: token, journey, replay."""

import asyncio
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from demo.journey import HopMissing, travel
from demo.patience import Refused, Unanswered
from demo.progress import shown_on
from demo.purchases import FACTS, PurchasesUnreadable, read_purchases
from demo.replay import Replay
from demo.report import show_addresses, show_journey, show_outcome
from demo.run import Run
from demo.suite import Suite
from demo.tokens import NoSigningKey, Tokens

cli = typer.Typer(
    help="Talks to a running suite over public HTTP. FENCEPOST_STATE_DIR and FENCEPOST_PORT_BASE say to which.",
    no_args_is_help=True,
    add_completion=False,
)


def _run(name: str) -> Run:
    try:
        return Run(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


@cli.command()
def token(
    sub: Annotated[str, typer.Option(help="Who the bearer is: a customer id, or a member of staff.")],
    scopes: Annotated[str, typer.Option(help="What the bearer may do, separated by spaces.")],
) -> None:
    """Print a bearer token, valid for one hour, signed by the stack's development key."""
    try:
        typer.echo(Tokens(Suite().secrets).bearer(sub, scopes))
    except NoSigningKey as error:
        _give_up(str(error))


@cli.command()
def journey(
    deadline: Annotated[float, typer.Option(help="Seconds from POST to mail before it counts as stuck.", min=1)] = 30.0,
) -> None:
    """Place one order and follow it, hop by hop, to its mail."""
    suite, console = Suite(), Console()
    try:
        travelled = asyncio.run(travel(suite, deadline=deadline))
    except (HopMissing, NoSigningKey, Refused) as error:
        _give_up(str(error))
    except Unanswered as error:
        _give_up(f"{error}. Is the suite up? `make ps` shows it, `make up` starts what is down.")
    show_journey(console, travelled)
    show_addresses(console, suite)


@cli.command()
def replay(
    count: Annotated[
        int, typer.Option(help="Play only the first so many purchases.", min=1, max=FACTS.purchases)
    ] = FACTS.purchases,
    concurrency: Annotated[int, typer.Option(help="How many orders are posted at once.", min=1, max=256)] = 16,
    run_id: Annotated[
        Run | None,
        typer.Option(
            help="Name of the run. A run that was cut off goes on when it is given again.", parser=_run, metavar="NAME"
        ),
    ] = None,
) -> None:
    """Play the real purchases through POST /orders, wait until all has settled, and reconcile to the cent."""
    console, run = Console(), run_id or Run()
    try:
        purchases = read_purchases()[:count]
        with shown_on(console) as progress:
            player = Replay(Suite(), purchases, run=run, concurrency=concurrency, progress=progress)
            console.print(f"run {run.id}: {len(purchases):,} purchases, {concurrency} at once", highlight=False)
            outcome = asyncio.run(player.play())
    except (NoSigningKey, PurchasesUnreadable, Refused) as error:
        _give_up(str(error))
    except Unanswered as error:
        _give_up(f"{error}. Is the suite up? `make ps` shows it, `make up` starts what is down.")
    show_outcome(console, outcome)
    raise typer.Exit(0 if outcome.agrees else 1)


def _give_up(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(1)


if __name__ == "__main__":
    cli()
