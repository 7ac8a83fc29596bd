"""What a container's healthcheck runs: exits 0 when the process that HEALTH_URL or HEALTH_FILE names is ready.

HEALTH_URL is the address that an API says it is ready at; HEALTH_FILE is the heartbeat of a process without a port. It
runs every few seconds beside every process, so it imports nothing but the standard library, and the image keeps it as
a file of its own; `python -m service_platform.telemetry.healthcheck` is the same, slower.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

FRESH_SECONDS = 10.0
"""Older than this, a heartbeat counts as none."""

_ANSWER_SECONDS = 4.0

# A container engine that has waited long enough leaves the check running and begins another: on a machine that is short
# of processor they would pile up until nothing else gets any.
_LONGEST_SECONDS = 9


def check_file(path: Path, now: float) -> str | None:
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


def check_url(url: str) -> str | None:
    """Why the process that answers at `url` is not healthy; None when it answers with 200."""
    import urllib.error  # noqa: PLC0415 - most processes have a file, and need not wait for these
    import urllib.request  # noqa: PLC0415

    if not url.startswith(("http://", "https://")):
        return f"HEALTH_URL is no web address: {url}"
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - its scheme was looked at
            return None if answer.status == 200 else f"{url} answered {answer.status}"
    except urllib.error.HTTPError as refusal:
        return f"{url} answered {refusal.code}: {refusal.read(1000).decode(errors='replace')}"
    except OSError as error:
        return f"{url} does not answer: {error}"


def main() -> int:
    signal.alarm(_LONGEST_SECONDS)
    url, file = os.environ.get("HEALTH_URL"), os.environ.get("HEALTH_FILE")
    if url:
        problem = check_url(url)
    elif file:
        problem = check_file(Path(file), time.time())
    else:
        problem = "neither HEALTH_URL nor HEALTH_FILE is set: there is nothing to check"
    if problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
