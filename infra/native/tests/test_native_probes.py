"""A heartbeat counts when it is fresh, says ready, and its writer is still there."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from native.probes import heartbeat


def beat(path: Path, *, pid: int, ready: bool = True, age: float = 0.0) -> Path:
    path.write_text(json.dumps({"pid": pid, "ready": ready}))
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_a_fresh_heartbeat_of_a_living_process_is_enough(tmp_path: Path) -> None:
    assert heartbeat(beat(tmp_path / "beat", pid=os.getpid()))() is None


def test_no_heartbeat_yet_is_not_ready(tmp_path: Path) -> None:
    assert heartbeat(tmp_path / "beat")() == "no heartbeat yet"


def test_a_process_that_says_so_is_not_ready(tmp_path: Path) -> None:
    assert heartbeat(beat(tmp_path / "beat", pid=os.getpid(), ready=False))() == "it says that it is not ready"


def test_an_old_heartbeat_is_not_ready(tmp_path: Path) -> None:
    assert heartbeat(beat(tmp_path / "beat", pid=os.getpid(), age=60))() == "the last heartbeat is 60 s old"


def test_what_a_killed_process_wrote_is_not_ready(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    assert heartbeat(beat(tmp_path / "beat", pid=gone.pid))() == "the heartbeat is of a process that is gone"
