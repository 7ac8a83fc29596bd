"""Nothing runs, and nothing is told, where nobody waits for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from rules import Breach

from .shapes import calls, classes
from .sources import PLATFORM, Import, Rule, Source, Sources, deployed

OWNERS: Final = {
    f"{PLATFORM}.process.runner": "every body of a process, and ends with them",
    f"{PLATFORM}.pacing.waiting": "its waits, which it cancels",
    f"{PLATFORM}.event_bus.engine": "its fetching thread, and stops it",
    f"{PLATFORM}.event_bus.partition": "one task a key, and hears its end",
    f"{PLATFORM}.event_bus.kafka_sink": "one thread, and the closing of a producer that hangs",
    f"{PLATFORM}.jobs.child": "the thread of a worker's child",
    f"{PLATFORM}.jobs.sink": "one thread, which its relay ends",
    f"{PLATFORM}.http.serve": "uvicorn's server",
}
"""Modules that start tasks or threads, and what each of them owns, waits for and ends."""

_STARTS: Final = frozenset({
    "create_task", "ensure_future", "run_in_executor", "Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor",
    "run_coroutine_threadsafe", "call_later", "call_at", "call_soon", "Process", "Popen",
})  # fmt: skip
_SIDE_CHANNELS: Final = {
    "BackgroundTasks": "FastAPI runs it after the answer, and a crash forgets it",
    "BackgroundTask": "Starlette runs it after the answer, and a crash forgets it",
    "listens_for": "SQLAlchemy calls it for whatever happens to a row, and a rollback does not take it back",
    "blinker": "a signal is heard in this process only, and a crash forgets it",
    "on_commit": "a crash between COMMIT and it forgets it",
}

_TELL: Final = "Publish an event or enqueue a job in the transaction that makes it true."


def a_background_task_has_an_owner(sources: Sources) -> Iterator[Breach]:
    for source in deployed(sources):
        if source.name in OWNERS:
            continue
        own = {node.name for node in classes(source.tree)}
        own |= {found.name or "" for found in source.imports if _is_own(found, source)}
        for name, call in calls(source.nodes):
            if name in _STARTS and name not in own:
                yield Breach(
                    source.at(call),
                    f"{name}() starts what nobody waits for",
                    "What must happen is a job; what runs as long as the process is a body that bootstrap gives it. A "
                    "module of the platform that starts and ends its own tasks is named in OWNERS.",
                )


def _is_own(found: Import, source: Source) -> bool:
    """A `Thread` of the domain is no thread."""
    return found.module.partition(".")[0] == source.name.partition(".")[0]


def facts_go_through_the_outbox(sources: Sources) -> Iterator[Breach]:
    for source in deployed(sources):
        for found in source.imports:
            words = {found.name or "", *found.module.split(".")}
            is_event_of_sqlalchemy = found.module.startswith("sqlalchemy") and "event" in words
            named = words & _SIDE_CHANNELS.keys()
            if named or is_event_of_sqlalchemy:
                word = named.pop() if named else "listens_for"
                yield Breach(
                    f"{source.path}:{found.line}",
                    f"it imports {found.name or found.module}: {_SIDE_CHANNELS[word]}",
                    _TELL,
                )
        for node in source.nodes:
            match node:
                case ast.Attribute(attr=word) if word in _SIDE_CHANNELS:
                    yield Breach(source.at(node), f"it uses {ast.unparse(node)}: {_SIDE_CHANNELS[word]}", _TELL)


RULES: Final[tuple[Rule, ...]] = (a_background_task_has_an_owner, facts_go_through_the_outbox)
