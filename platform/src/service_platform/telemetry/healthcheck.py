"""`python -m service_platform.telemetry.healthcheck`: exits 0 when the process behind HEALTH_FILE is ready.

For the healthchecks of containers whose process has no port.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from .heartbeat import FRESH_SECONDS


def check(path: Path, now: float) -> str | None:
    """Why the process that writes `path` is not healthy at `now` (seconds since the epoch); None when it is."""
    try:
        beat = json.loads(path.read_text())
        at, ready = float(beat["at"]), beat["ready"]
    except FileNotFoundError:
        return f"{path} does not exist: the process has not started, or has stopped"
    except (ValueError, KeyError, TypeError):
        return f"{path} is not a heartbeat"
    if now - at > FRESH_SECONDS:
        return f"the last heartbeat is {now - at:.0f} s old: the process is dead or its loop is blocked"
    if ready is not True:
        return "the process is alive and not ready"
    return None


def main() -> int:
    file = os.environ.get("HEALTH_FILE")
    problem = check(Path(file), time.time()) if file else "HEALTH_FILE is not set: there is nothing to check"
    if problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
