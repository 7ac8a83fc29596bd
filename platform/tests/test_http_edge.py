"""What every answer carries: ids that travel, security headers, one log line, one measurement."""

import json
from pathlib import Path

import pytest
from fastapi import APIRouter
from http_lab import app_with, bearer, client_of, things
from starlette.responses import Response, StreamingResponse
from structlog.testing import capture_logs

from service_platform.http import public
from service_platform.http.edge import SECURITY_HEADERS
from service_platform.telemetry import carrier, correlation_id

TRACE = "0af7651916cd43dd8448eb211c80319c"


def echoing() -> APIRouter:
    router = APIRouter(dependencies=[public("a test")])

    @router.get("/ids/{anything}")
    async def ids(anything: str) -> dict[str, str | None]:
        return {"correlation_id": correlation_id(), **carrier()}

    @router.get("/cached")
    async def cached() -> Response:
        return Response("ok", headers={"Cache-Control": "private, max-age=60"})

    @router.get("/half")
    async def half() -> Response:
        async def parts():
            yield b"first"
            raise RuntimeError("broken in the middle")

        return StreamingResponse(parts())

    @router.get("/bug")
    async def bug() -> None:
        raise RuntimeError("broken")

    return router


@pytest.fixture
async def client(tmp_path: Path):
    async with client_of(app_with(tmp_path, things(), echoing())) as client:
        yield client


@pytest.fixture
def logged():
    """What is logged, by event."""

    def on_whose_behalf(_logger, _method, event):
        return event | {"correlation_id": correlation_id()}

    with capture_logs([on_whose_behalf]) as entries:
        yield lambda: {str(entry["event"]): entry for entry in entries if entry["log_level"] != "debug"}


async def test_a_correlation_id_comes_in_reaches_the_work_and_goes_out(client) -> None:
    answer = await client.get("/ids/1", headers={"X-Correlation-Id": "order-7:retry.1"})
    assert answer.json()["correlation_id"] == answer.headers["x-correlation-id"] == "order-7:retry.1"


@pytest.mark.parametrize("unfit", ["", "a b", "x" * 129, "<script>", "é"])
async def test_an_unfit_or_missing_correlation_id_is_replaced(client, unfit: str) -> None:
    answer = await client.get("/ids/1", headers={"X-Correlation-Id": unfit.encode("latin-1")})
    assert len(answer.headers["x-correlation-id"]) == 32


async def test_each_request_has_an_id_of_its_own(client) -> None:
    first, second = [await client.get("/ids/1", headers={"X-Request-Id": "mine"}) for _ in range(2)]
    assert first.headers["x-request-id"] != second.headers["x-request-id"] != "mine"


async def test_a_trace_is_continued(client) -> None:
    answer = await client.get("/ids/1", headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"})
    assert TRACE in answer.json()["traceparent"]
    assert TRACE not in (await client.get("/ids/1")).json()["traceparent"]


@pytest.mark.parametrize("path", ["/things", "/nowhere", "/bug", "/health/live", "/ids/1"])
async def test_every_answer_has_the_security_headers(client, path: str) -> None:
    answer = await client.get(path)
    assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS


async def test_a_route_may_keep_its_own_header(client) -> None:
    answer = await client.get("/cached")
    assert answer.headers.get_list("cache-control") == ["private, max-age=60"]


async def test_a_request_is_one_line_without_path_values_or_tokens(client, logged) -> None:
    good = bearer()
    await client.get("/ids/jane@example.com?q=secret-question", headers=good | {"X-Correlation-Id": "c-9"})
    line = logged()["http.request.finished"]
    assert (line["method"], line["route"], line["status"]) == ("GET", "/ids/{anything}", 200)
    assert line["correlation_id"] == "c-9"
    assert line["ms"] >= 0
    assert "jane" not in json.dumps(line)
    assert "question" not in json.dumps(line)


async def test_a_bug_is_logged_once_with_its_traceback_under_the_same_correlation_id(client, logged) -> None:
    answer = await client.get("/bug")
    line = logged()["http.request.failed"]
    assert line["exc_info"]
    assert line["correlation_id"] == answer.json()["correlation_id"]


async def test_probes_are_not_logged(client, logged) -> None:
    await client.get("/health/live")
    assert logged() == {}


async def test_half_an_answer_is_not_made_to_look_whole(client, logged) -> None:
    with pytest.raises(RuntimeError, match="in the middle"):
        await client.get("/half")
    assert "http.request.failed" in logged()


async def test_requests_are_counted_by_route_template_and_status(client) -> None:
    await client.get("/ids/1")
    await client.get("/nowhere/1")
    await client.request("BREW", "/ids/1")
    numbers = (await client.get("/metrics")).text
    assert 'http_request_seconds_count{method="GET",route="/ids/{anything}",status="200"}' in numbers
    assert 'http_request_seconds_count{method="GET",route="unmatched",status="404"}' in numbers
    assert 'http_request_seconds_count{method="other",route="/ids/{anything}",status="405"}' in numbers
    assert "/nowhere/1" not in numbers
