"""The operators' command of a service in a process of its own: `python ops_process.py things list`."""

from __future__ import annotations

from ops_things import THINGS

from service_platform.ops.command import run_command
from service_platform.settings import ServiceSettings

if __name__ == "__main__":
    run_command("ops", ServiceSettings, THINGS)
