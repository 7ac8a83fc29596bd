"""What a run says at its end: tables for a person, a JSON file for later."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from .measurements import relay_drain
from .results import Results
from .targets import TARGETS


def write(results: Results, folder: Path) -> Path:
    """Write everything that was measured to `<folder>/<time>.json`; returns the path."""
    now = datetime.now(UTC)
    content = {
        "at": now.isoformat(timespec="seconds"),
        "machine": {
            "cores": os.cpu_count(),
            "memory_bytes": psutil.virtual_memory().total,
            "system": platform.platform(),
            "python": platform.python_version(),
            "load_average": os.getloadavg(),
        },
        "targets": [
            {"text": target.text, "bound": target.bound, "verdict": verdict, "figure": figure}
            for target in TARGETS
            for verdict, figure in [target.verdict(results)]
        ],
        "measured": [asdict(result) for result in results.measured],
        "left_out": [
            {"measurement": measurement, "contestant": contestant, "reason": reason}
            for (measurement, contestant), reason in results.left_out.items()
        ],
    }
    path = folder / f"{now:%Y-%m-%dT%H-%M-%SZ}.json"
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path


def show(console: Console, results: Results) -> None:
    """Print a table a measurement, the targets, and what was left out."""
    _show_drain(console, results)
    _show_targets(console, results)
    for (measurement, contestant), reason in results.left_out.items():
        console.print(f"left out of {measurement}: {contestant}: {reason}", style="yellow", soft_wrap=True)


def _show_drain(console: Console, results: Results) -> None:
    name = relay_drain.NAME
    contestants = results.contestants(name)
    if not contestants:
        return
    table = _table(
        "Draining a backlog, rows a second (medians)",
        ["contestant", "rows", "total", "steady middle", "of hand-tuned", "cpu relay s", "lost", "out of order"],
    )
    for contestant in contestants:
        cold = contestant.endswith(", cold")
        table.add_row(
            contestant,
            number(results.median(name, contestant, "rows")),
            number(results.median(name, contestant, "total")),
            number(results.median(name, contestant, "steady")),
            number(results.ratio(name, contestant, "hand-tuned, cold" if cold else "hand-tuned", "total"), 2),
            number(results.median(name, contestant, "cpu_relays"), 1),
            number(results.worst(name, contestant, "lost")),
            number(results.worst(name, contestant, "out_of_order")),
        )
    console.print(table)


def _show_targets(console: Console, results: Results) -> None:
    table = _table("Targets", ["target", "bound", "figure", ""])
    for target in TARGETS:
        verdict, figure = target.verdict(results)
        style = {"met": "green", "missed": "red"}.get(verdict, "dim")
        bound = f"{'≥' if target.at_least else '≤'} {target.bound:g}"
        table.add_row(target.text, bound, number(figure, 2), f"[{style}]{verdict}[/]")
    console.print(table)


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", no_wrap=place > 0 or len(columns) > 5)
    return table


def number(value: float | None, digits: int = 0) -> str:
    """For a table: thousands apart, and nothing where there is no value."""
    return "" if value is None else f"{value:,.{digits}f}"
