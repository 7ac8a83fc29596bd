"""What a service promises about an event, and the file that says so: `contracts/<service>/events.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .facets import Schema

FILE_NAME = "events.json"


class UnreadableContract(Exception):
    """A file of contracts that is none."""


@dataclass(frozen=True)
class EventContract:
    """One event as its publisher promises it.

    `payload` is the JSON schema of what version `version` sends; `earlier` has that of the versions before it, since
    messages of those are still under way, in topics, retries and dead letters, when a reader of today starts.
    `file` is where to change it.
    """

    source: str
    name: str
    version: int
    key: str
    payload: Schema
    earlier: Mapping[int, Schema] = field(default_factory=dict)
    file: str = field(default="", compare=False)

    @property
    def payloads(self) -> dict[int, Schema]:
        """The schema of each version, this one's included."""
        return {**self.earlier, self.version: self.payload}

    @property
    def is_deprecated(self) -> bool:
        return bool(self.payload.get("deprecated", False))

    def after(self, written: EventContract | None) -> EventContract:
        """This contract with the earlier versions that `written`, the one that stands in the file, knows."""
        known = written.payloads if written is not None else {}
        return replace(self, earlier={version: known[version] for version in sorted(known) if version < self.version})


def contracts_text(contracts: Iterable[EventContract]) -> str:
    """The text of `events.json`."""
    return json.dumps([_entry(contract) for contract in contracts], indent=2, ensure_ascii=False) + "\n"


def parse_contracts(text: str, source: str, file: str) -> list[EventContract]:
    """Read back what `contracts_text` wrote. Raises `UnreadableContract`."""
    try:
        return [
            EventContract(
                source=source,
                name=entry["name"],
                version=entry["version"],
                key=entry["key"],
                payload=entry["payload"],
                earlier={int(version): payload for version, payload in entry.get("earlier", {}).items()},
                file=file,
            )
            for entry in json.loads(text)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableContract(
            f"{file} is no file of event contracts ({error!r}): write it with `make contracts`"
        ) from error


def read_contracts(folder: Path) -> dict[str, list[EventContract]]:
    """The contracts of each service that has a folder with `events.json` in `folder`. Raises `UnreadableContract`."""
    return {
        path.parent.name: parse_contracts(
            path.read_text(encoding="utf-8"), path.parent.name, f"{folder.name}/{path.parent.name}/{FILE_NAME}"
        )
        for path in sorted(folder.glob(f"*/{FILE_NAME}"))
    }


def _entry(contract: EventContract) -> dict[str, Any]:
    earlier = {str(version): payload for version, payload in contract.earlier.items()}
    return {
        "name": contract.name,
        "version": contract.version,
        "key": contract.key,
        "payload": contract.payload,
        **({"earlier": earlier} if earlier else {}),
    }
