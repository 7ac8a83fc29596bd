"""The stack's command line; the Makefile calls it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from topics import TOPICS

from .errors import StackError
from .kafka_jars import BROKER, KAFKA_JARS, LOG_BINDING
from .layout import DOWNLOADS, ROOT
from .settings import StackSettings
from .stack import Stack
from .terminal import NEXT_STEPS, TERMINAL, console, mending, replicas, walk_one_order

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="The suite without containers."
)

_StackName = Annotated[str, typer.Option("--stack", help="dev or test: two stacks that never meet.")]
_State = Annotated[Path | None, typer.Option("--state", help="A state folder of your own.")]
_PortBase = Annotated[int | None, typer.Option("--port-base", help="The port that all others are counted from.")]


@app.command()
def up(
    *,
    stack: _StackName = "dev",
    state: _State = None,
    port_base: _PortBase = None,
    scale: Annotated[str, typer.Option(help='Replicas, as in "order-relay=3 payment-worker=2".')] = "",
    infrastructure: Annotated[bool, typer.Option(help="Stores and doubles only, no services.")] = False,
    journey: Annotated[bool, typer.Option(help="End by walking one order through.")] = True,
) -> None:
    """Start what is down, wait until all is ready, walk one order through."""
    began = time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - began:6.1f} s[/]  {text}")

    with mending():
        suite = _stack(stack, state, port_base, replicas=replicas(scale), say=say)
        say(f"stack in {suite.layout.state}")
        suite.up(only_infrastructure=infrastructure)
        say("everything is up")
        suite.layout.runner.write_text("native\n", encoding="utf-8")
        if journey and not infrastructure:
            walk_one_order(suite.layout.state, suite.port_base)
        else:
            _print_urls(suite)
        console.print(NEXT_STEPS)


@app.command()
def down(stack: _StackName = "dev", state: _State = None, port_base: _PortBase = None) -> None:
    """Stop everything; data stays."""
    with mending():
        _stack(stack, state, port_base, say=console.print).down()


@app.command()
def ps(stack: _StackName = "dev", state: _State = None, port_base: _PortBase = None) -> None:
    """List the processes."""
    with mending():
        suite = _stack(stack, state, port_base)
        states = suite.processes()
        if not states:
            console.print("The stack is down. `make up` starts it.")
            return
        table = Table("process", "state", "pid", "port", "up", "")
        for process in states:
            ports = ", ".join(map(str, suite.topology.ports_of(process.name)))
            colour = "green" if process.state == "RUNNING" else "red"
            table.add_row(
                process.name,
                f"[{colour}]{process.state.lower()}[/]",
                str(process.pid or ""),
                ports,
                _duration(process.up_seconds),
                process.detail,
            )
        console.print(table)


@app.command()
def logs(
    *,
    name: Annotated[str, typer.Argument(help="A process, a service (all of its processes), or nothing for all.")] = "",
    stack: _StackName = "dev",
    state: _State = None,
    port_base: _PortBase = None,
    follow: Annotated[bool, typer.Option(help="Go on printing what is added.")] = True,
    lines: Annotated[int, typer.Option(min=0, help="How many of the last lines to begin with.")] = 100,
) -> None:
    """Print the logs of processes."""
    with mending():
        folder = _stack(stack, state, port_base).layout.logs
        exact = folder / f"{name}.log"
        files = [exact] if exact.exists() else sorted(folder.glob(f"{name}-*.log" if name else "*.log"))
        if not files:
            known = ", ".join(path.stem for path in sorted(folder.glob("*.log"))) or "none yet"
            raise StackError(f"there is no log of {name or 'any process'}", f"There are: {known}.")
        arguments = ["tail", "-n", str(lines), *(["-F"] if follow else []), *map(str, files)]
        sys.stdout.flush()
        os.execvp("tail", arguments)


@app.command()
def clean(stack: _StackName = "dev", state: _State = None, port_base: _PortBase = None) -> None:
    """Stop everything and delete the stack's data, logs and secrets."""
    with mending():
        suite = _stack(stack, state, port_base, say=console.print)
        suite.clean()
        console.print(f"{suite.layout.state} is gone")


@app.command()
def dev(
    service: Annotated[str, typer.Argument(help="order, payment or billing.")],
    stack: _StackName = "dev",
    state: _State = None,
    port_base: _PortBase = None,
) -> None:
    """Run a service's API in the foreground, started anew whenever its code changes."""
    from .reload import run_reloading  # noqa: PLC0415 - only this command needs uvicorn

    with mending():
        suite = _stack(stack, state, port_base)
        name = f"{service}-api"
        environment = suite.env(name)
        suite.stop(name)
        try:
            run_reloading(service, environment)
        finally:
            suite.start(name, wait=False)


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def ops(
    service: Annotated[str, typer.Argument(help="order, payment or billing.")],
    words: Annotated[list[str] | None, typer.Argument(help="As in: dead-letters list --event order.placed")] = None,
    stack: _StackName = "dev",
    state: _State = None,
    port_base: _PortBase = None,
) -> None:
    """Run an operator action of a service on the running stack."""
    with mending():
        topology = _stack(stack, state, port_base).topology
        environment = topology.ops_env(service) | {name: os.environ[name] for name in TERMINAL if name in os.environ}
        if not topology.layout.secrets.exists():
            raise StackError(f"there is no stack in {topology.layout.state}", "`make up` makes one.")
    argv = [sys.executable, "-m", f"{service}_service.main.ops", *(words or ["--help"])]
    sys.stdout.flush()
    os.execve(argv[0], argv, environment)


@app.command()
def topics() -> None:
    """List the declared Kafka topics."""
    table = Table("topic", "partitions", "retention", "largest message")
    for topic in TOPICS:
        days = topic.retention_ms / 86_400_000
        table.add_row(topic.name, str(topic.partitions), f"{days:g} days", f"{topic.max_message_bytes} bytes")
    console.print(table)


@app.command()
def lock_kafka() -> None:
    """Resolve Kafka's jars anew and write their lock."""
    from .maven import write_lock  # noqa: PLC0415 - slow to import, needed here alone

    count = write_lock(KAFKA_JARS, DOWNLOADS, [BROKER], alone=[LOG_BINDING])
    console.print(f"{count} jars locked in {KAFKA_JARS.path.relative_to(ROOT)}")


def _stack(
    name: str,
    state: Path | None,
    port_base: int | None,
    *,
    replicas: dict[str, int] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Stack:
    settings = StackSettings()
    stacks = {
        "dev": (settings.state_dir, settings.port_base, "FENCEPOST_PORT_BASE"),
        "test": (ROOT / ".fencepost" / "test", settings.test_port_base, "FENCEPOST_TEST_PORT_BASE"),
    }
    if name not in stacks:
        raise StackError(f"there is no stack {name!r}", "Say dev or test, or give --state and --port-base.")
    folder, base, setting = stacks[name]
    return Stack(
        state or folder,
        port_base or base,
        settings=settings,
        replicas=replicas,
        port_setting=setting if port_base is None else "--port-base",
        say=say,
    )


def _print_urls(suite: Stack) -> None:
    table = Table("what", "where", title="The suite is up", title_justify="left")
    for name, url in suite.topology.urls().items():
        table.add_row(name, url)
    table.add_row("postgres", f"127.0.0.1:{suite.topology.ports['postgres']}")
    table.add_row("kafka", suite.topology.kafka_address)
    table.add_row("valkey", f"127.0.0.1:{suite.topology.ports['valkey']}")
    table.add_row("secrets", str(suite.layout.secrets))
    console.print(table)


def _duration(seconds: int | None) -> str:
    if seconds is None:
        return ""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
