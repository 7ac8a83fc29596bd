"""What a process loads before it can work is how long its work stands still when it is replaced."""

import subprocess
import sys

import pytest


def loaded_by(program: str) -> set[str]:
    """The top-level packages that a fresh interpreter has after `program`."""
    tell = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; {tell}"], capture_output=True, text=True, timeout=120, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "program",
    [
        "from service_platform.bootstrap import build_relay, build_scheduler, run_consumers, with_housekeeping",
        "from service_platform.jobs import CelerySink, FencedProcessor, JobKind, JobSweep",
        "import service_platform.http, service_platform.operations",
    ],
)
def test_celery_is_loaded_by_workers_only(program: str) -> None:
    assert loaded_by(program) & {"celery", "kombu", "billiard"} == set()
    assert "celery" in loaded_by("from service_platform.jobs.worker import run_worker")
