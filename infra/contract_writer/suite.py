"""The contracts of the whole suite: each service's own, and what only shows when all are looked at together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from native.topology import SERVICES
from service_platform import contracts
from service_platform.contracts import Base, Breach, Contracts

from .asyncapi import asyncapi
from .asyncapi_file import asyncapi_text
from .openapi import openapi_text

FOLDER = Path(__file__).resolve().parents[2] / "contracts"


def contracts_now(folder: Path) -> Contracts:
    """What the classes of every service promise."""
    return {service: contracts.contracts_now(service, folder) for service in SERVICES}


def refusals(folder: Path, base: Base) -> list[Breach]:
    """Why nothing must be written as the classes stand."""
    return [breach for service in SERVICES for breach in contracts.refusals(service, folder, base)]


def breaches(folder: Path, base: Base) -> list[Breach]:
    """Every rule that the suite breaks."""
    return [
        *(breach for service in SERVICES for breach in contracts.breaches(service, folder, base)),
        *unread(folder),
        *_orphaned(folder),
        *_stale(folder),
    ]


def write(folder: Path) -> list[Path]:
    """Write what differs, and say what was written. Ask `refusals` before."""
    documents = list(_documents(folder))  # before anything is written, since an application may fail to be built
    written = [path for service in SERVICES if (path := contracts.write(service, folder)) is not None]
    for path, text in documents:
        if not _holds(path, text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def _documents(folder: Path) -> Iterator[tuple[Path, str]]:
    """What stands beside the events, and its text."""
    for service in SERVICES:
        yield folder / service / "openapi.json", openapi_text(service)
    readers = [reader for service in SERVICES for reader in contracts.read_by(service)]
    yield folder / "asyncapi.yaml", asyncapi_text(asyncapi(contracts_now(folder), readers))


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def unread(folder: Path) -> Iterator[Breach]:
    """An event exists only if another service consumes it; one on its way out may have lost its last reader."""
    read = {
        reader.name for service in SERVICES for reader in contracts.read_by(service) if reader.service != reader.source
    }
    for events in contracts_now(folder).values():
        for event in events:
            if event.name not in read and not event.is_deprecated:
                yield Breach(
                    event.file,
                    event.name,
                    "no other service consumes it",
                    f"write its reader in another service's events/{event.source}/ and a consumer in its reactors/, or "
                    "do not publish it",
                )


def _orphaned(folder: Path) -> Iterator[Breach]:
    for path in sorted(folder.glob("*/")):
        if path.name not in SERVICES:
            yield Breach(f"{folder.name}/{path.name}", path.name, "there is no such service", "delete the folder")


def _stale(folder: Path) -> Iterator[Breach]:
    for path, text in _documents(folder):
        if not _holds(path, text):
            yield Breach(
                str(path.relative_to(folder.parent)),
                path.stem,
                "it is not what the code says",
                "run `make contracts`, look at what changes for those who use it, and commit it",
            )
