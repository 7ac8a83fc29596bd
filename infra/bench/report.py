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

from .measurements import MEASUREMENTS, Measurement
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
    for measurement in MEASUREMENTS.values():
        if contestants := results.contestants(measurement.name):
            console.print(_table_of(measurement, contestants, results))
    console.print(_targets(results))
    for (name, contestant), reason in results.left_out.items():
        console.print(f"left out of {name}: {contestant}: {reason}", style="yellow", soft_wrap=True)


def _table_of(measurement: Measurement, contestants: Sequence[str], results: Results) -> Table:
    against = measurement.against
    headers = [column.header for column in measurement.columns]
    table = _table(measurement.title, ["", *headers, *([f"of {against.contestant}"] if against else [])])
    for contestant in contestants:
        cells = [contestant]
        for column in measurement.columns:
            ask = results.median if column.of == "median" else results.worst
            cells.append(number(ask(measurement.name, contestant, column.figure), column.digits))
        if against:
            peer = f"{against.contestant}, cold" if contestant.endswith(", cold") else against.contestant
            cells.append(number(results.ratio(measurement.name, contestant, peer, against.figure), 2))
        table.add_row(*cells)
    return table


def _targets(results: Results) -> Table:
    table = _table("Targets", ["", "bound", "figure", "verdict"])
    for target in TARGETS:
        verdict, figure = target.verdict(results)
        style = {"met": "green", "missed": "red"}.get(verdict, "dim")
        bound = f"{'≥' if target.at_least else '≤'} {target.bound:g}"
        table.add_row(target.text, bound, number(figure, 2), f"[{style}]{verdict}[/]")
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", no_wrap=place == 0)
    return table


def number(value: float | None, digits: int = 0) -> str:
    """For a table: thousands apart, and nothing where there is no value."""
    return "" if value is None else f"{value:,.{digits}f}"
