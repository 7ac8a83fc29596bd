"""`python -m containers`: the suite in containers; the Makefile calls it where `infra/runner.sh` says so."""

from __future__ import annotations

from typing import Annotated

import typer

from native.errors import StackError
from native.settings import StackSettings
from native.terminal import NEXT_STEPS, TERMINAL, console, mending, replicas, walk_one_order
from native.topology import SERVICES

from .project import Project

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="The suite in containers."
)


@app.command()
def up(
    *,
    scale: Annotated[str, typer.Option(help='Replicas, as in "order-relay=3 payment-worker=2".')] = "",
    journey: Annotated[bool, typer.Option(help="End by walking one order through.")] = True,
) -> None:
    """Build what changed, start what is down, wait until all is healthy, walk one order through."""
    settings = StackSettings()
    with mending():
        project = Project(settings)
        project.up(replicas(scale))
        if journey:
            walk_one_order(project.layout.state, settings.port_base)
        console.print(NEXT_STEPS)


@app.command()
def prepare() -> None:
    """Write the secrets that docker-compose.yaml names, for who calls `docker compose` by hand."""
    with mending():
        Project(StackSettings()).prepare()


@app.command()
def down() -> None:
    """Stop everything; data stays."""
    with mending():
        Project(StackSettings()).down()


@app.command()
def ps() -> None:
    """List the containers."""
    with mending():
        Project(StackSettings()).show()


@app.command()
def logs(
    name: Annotated[str, typer.Argument(help="A container, or a service for all of its containers.")] = "",
) -> None:
    """Follow the logs of containers."""
    with mending():
        project = Project(StackSettings())
        known = project.names()
        wanted = [name] if name in known else [one for one in known if one.startswith(f"{name}-")]
        if name and not wanted:
            raise StackError(f"there is no container {name!r}", f"There are: {', '.join(sorted(known))}.")
        project.follow(wanted if name else [])


@app.command()
def clean() -> None:
    """Stop everything and delete containers, volumes and secrets."""
    with mending():
        Project(StackSettings()).clean()


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def ops(
    service: Annotated[str, typer.Argument(help="order, payment or billing.")],
    words: Annotated[list[str] | None, typer.Argument(help="As in: dead-letters list --event order.placed")] = None,
) -> None:
    """Run an operator action of a service on the running suite."""
    with mending():
        if service not in SERVICES:
            raise StackError(f"there is no service {service!r}", f"There are: {', '.join(SERVICES)}.")
        argv = ["python", "-m", f"{service}_service.main.ops", *(words or ["--help"])]
        Project(StackSettings()).execute(f"{service}-api", argv, terminal=TERMINAL)


@app.command()
def dev(service: Annotated[str, typer.Argument(help="order, payment or billing.")]) -> None:
    """Not in containers: their databases are reached from inside alone."""
    with mending():
        raise StackError(
            f"{service} cannot be reloaded in a container",
            "Stop the containers and use the native stack: make down && FENCEPOST_RUNNER=native make up",
        )


if __name__ == "__main__":
    app()
