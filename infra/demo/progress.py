"""Shows how far a run has come: bars on a terminal, plain lines anywhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from demo.replay import Progress

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def shown_on(console: Console) -> Iterator[Progress]:
    """A `Progress` for as long as the block runs."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Four times a second: drawing costs the processor that the suite needs.
    with Bars(*columns, console=console, refresh_per_second=4) as bars:
        yield _Tasks(bars)


class _Tasks:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase not in self._tasks:
            self._tasks[phase] = self._bars.add_task(phase, total=total)
        self._bars.update(self._tasks[phase], completed=done)


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._phase = ""
        self._written_at = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = monotonic()
        if phase == self._phase and done < total and now - self._written_at < _SECONDS_BETWEEN_LINES:
            return
        self._phase, self._written_at = phase, now
        self._console.print(f"{phase}: {done} of {total}", highlight=False)
