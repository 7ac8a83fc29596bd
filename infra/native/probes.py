"""Ways to ask a process whether it is ready."""

from __future__ import annotations

import json
import time
from pathlib import Path

import httpx
import psutil

from .process import Probe

_HEARTBEAT_FRESH_SECONDS = 10.0


def http_ready(url: str) -> Probe:
    """Ready when `url` answers 200."""

    def probe() -> str | None:
        try:
            answer = httpx.get(url, timeout=2.0, trust_env=False)
        except httpx.HTTPError as error:
            return f"{url}: {type(error).__name__}"
        if answer.status_code == httpx.codes.OK:
            return None
        return f"{url}: {answer.status_code} {answer.text[:200]}"

    return probe


def heartbeat(path: Path) -> Probe:
    """Ready when a process that is still there wrote into `path`, less than 10 s ago, that it is."""

    def probe() -> str | None:
        try:
            beat = json.loads(path.read_text(encoding="utf-8"))
            age = time.time() - path.stat().st_mtime
        except FileNotFoundError:
            return "no heartbeat yet"
        except json.JSONDecodeError:
            return "the heartbeat file is half written"
        if not psutil.pid_exists(beat.get("pid", 0)):
            return "the heartbeat is of a process that is gone"
        if age > _HEARTBEAT_FRESH_SECONDS:
            return f"the last heartbeat is {age:.0f} s old"
        return None if beat.get("ready") else "it says that it is not ready"

    return probe
