"""Logs: one JSON object a line, whoever logs, under the ids of the work, and never with a secret."""

import json
import logging
import subprocess
import sys

import pytest

PROLOGUE = """
import logging
from service_platform.telemetry import *
class Event(LogEvent):
    HAPPENED = "test.it.happened"
configure_logging("order", "relay", secrets=["hunter2-hunter2", 'quo"ted-secret'])
log = get_logger()
"""


def lines(code: str) -> list[dict[str, object]]:
    """What a process that runs `code` logs; a process of its own, since logging is configured per process."""
    run = subprocess.run([sys.executable, "-c", PROLOGUE + code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_an_event_carries_who_when_and_on_whose_behalf() -> None:
    (line,) = lines(
        """
with correlation_scope("c-1"), restore({"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}):
    log.info(Event.HAPPENED, rows=3)
"""
    )
    assert line.pop("at")
    assert line == {
        "event": "test.it.happened",
        "level": "info",
        "service": "order",
        "process": "relay",
        "correlation_id": "c-1",
        "trace_id": "a" * 32,
        "rows": 3,
    }


def test_the_lines_of_libraries_come_in_the_same_form() -> None:
    uvicorn, other = lines(
        """
with correlation_scope("c-2"):
    logging.getLogger("uvicorn.error").info("Started %d", 7)
    logging.getLogger("any.library").warning("careful")
logging.getLogger("httpx").info("HTTP Request: GET http://secret.example/")
"""
    )
    assert (uvicorn["event"], uvicorn["logger"], uvicorn["level"]) == ("Started 7", "uvicorn.error", "info")
    assert (other["event"], other["process"], other["correlation_id"]) == ("careful", "relay", "c-2")


def test_secrets_are_blotted_out_by_name_and_by_value_in_tracebacks_too() -> None:
    written = lines(
        """
log.info(Event.HAPPENED, password="x", Authorization="Bearer y", address="redis://:hunter2-hunter2@h/0")
try:
    raise ValueError('cannot reach quo"ted-secret')
except ValueError:
    log.exception(Event.HAPPENED)
    logging.getLogger("lib").exception("failed with hunter2-hunter2")
"""
    )
    assert (written[0]["password"], written[0]["Authorization"]) == ("[redacted]", "[redacted]")
    assert written[0]["address"] == "redis://:[redacted]@h/0"
    assert "ValueError: cannot reach [redacted]" in str(written[1]["exception"])
    assert "hunter2" not in json.dumps(written)


def test_what_json_cannot_hold_is_logged_all_the_same() -> None:
    written = lines("log.info(Event.HAPPENED, text='\\ud800', number=2**70, thing=object(), text_key={1: 2})")
    assert written[0]["event"] == "test.it.happened"
    assert written[0]["number"] == str(2**70)


def test_a_line_is_one_line_whatever_is_in_it() -> None:
    (line,) = lines("log.info(Event.HAPPENED, text='a\\nb')")
    assert line["text"] == "a\nb"


def test_an_unfit_correlation_id_is_replaced() -> None:
    from service_platform.telemetry import correlation_id, correlation_scope

    for unfit in (None, "", "a b", "x" * 129, "line\nbreak", "-leading", 'quo"te'):
        with correlation_scope(unfit) as chosen:
            assert chosen == correlation_id() != unfit
            assert len(chosen) == 32
    assert correlation_id() is None


@pytest.fixture(autouse=True)
def _own_logging_untouched():
    before = logging.getLogger().handlers[:]
    yield
    assert logging.getLogger().handlers == before


def test_a_process_that_prints_its_result_logs_beside_it() -> None:
    code = """
import sys
configure_logging("order", "ops", to=sys.stderr)
log.warning(Event.HAPPENED)
logging.getLogger("any.library").warning("careful")
print("the result")
"""
    run = subprocess.run([sys.executable, "-c", PROLOGUE + code], capture_output=True, text=True, check=True)
    assert run.stdout == "the result\n"
    assert [json.loads(line)["event"] for line in run.stderr.splitlines()] == ["test.it.happened", "careful"]
