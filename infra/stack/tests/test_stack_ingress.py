"""A real Caddy with the stack's configuration, before stand-ins of the APIs: what is public, and what it answers."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tenacity import retry, stop_after_delay, wait_fixed

from native.layout import ROOT
from native.standalone import free_port
from service_platform.http.app import MAX_BODY_BYTES
from service_platform.http.edge import SECURITY_HEADERS
from stack.render import INGRESS

SERVICES = ("order", "payment", "billing")
CADDY = Path(sys.executable).with_name("caddy")


class Api:
    """Stands for one API: answers every request with its name, and remembers the path as it came."""

    def __init__(self, name: str, port: int) -> None:
        self.paths: list[str] = []
        heard = self.paths

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                heard.append(self.path)
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self.send_response(200)
                for header, value in {**SECURITY_HEADERS, "content-length": str(len(name))}.items():
                    self.send_header(header, value)
                self.end_headers()
                self.wfile.write(name.encode())

            do_POST = do_GET  # noqa: N815 - the library calls it so

            def log_message(self, *_: object) -> None:
                """Quiet."""

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """Quiet, too: the ingress hangs up in the middle of a body that is too large."""

        self.server = Server(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Ingress:
    """Caddy as the stack configures it, but for addresses and TLS."""

    def __init__(self, folder: Path, upstreams: Mapping[str, int]) -> None:
        self.port, self.health_port = free_port(), free_port()
        text = INGRESS.read_text().replace("{args[0]}:8000", "{args[0]}").replace(":8081", f":{self.health_port}")
        for service, port in upstreams.items():
            assert f"import api {service}-api" in text
            text = text.replace(f"import api {service}-api", f"import api 127.0.0.1:{port}")
        (folder / "Caddyfile").write_text(text)
        command = [str(CADDY), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
        told = {"PUBLIC_HOST": f"http://127.0.0.1:{self.port}", "ACME_EMAIL": "a@example.com", "HOME": str(folder)}
        with (folder / "log").open("w") as log:
            self.process = subprocess.Popen(command, env=told, stderr=log, stdout=log)

    @retry(stop=stop_after_delay(10), wait=wait_fixed(0.05), reraise=True)
    def wait(self) -> None:
        assert self.ask("/", port=self.health_port)[0] == 200

    def ask(
        self, path: str, method: str = "GET", body: bytes = b"", *, port: int | None = None
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Status, headers and body of the answer; `path` is sent as it is written."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=15)
        try:
            connection.request(method, path, body or None)
            answer = connection.getresponse()
            return answer.status, [(name.lower(), value) for name, value in answer.getheaders()], answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def apis() -> Iterator[dict[str, Api]]:
    apis = {service: Api(service, 0) for service in SERVICES}
    yield apis
    for api in apis.values():
        api.close()


@pytest.fixture(scope="module")
def ingress(apis: dict[str, Api], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingress]:
    ingress = Ingress(tmp_path_factory.mktemp("ingress"), {name: api.server.server_port for name, api in apis.items()})
    try:
        ingress.wait()
        yield ingress
    finally:
        ingress.process.terminate()
        ingress.process.wait(10)


def test_the_caddy_that_is_tried_is_the_one_that_is_deployed(stack: dict[str, Any]) -> None:
    """One is locked by `make lock`, the other pinned in the overlay: who raises one raises both."""
    version = subprocess.run([str(CADDY), "version"], capture_output=True, text=True, check=True).stdout.split()[0]
    assert stack["services"]["ingress"]["image"].startswith(f"caddy:{version.removeprefix('v')}-alpine@")


def public_paths(service: str) -> list[str]:
    document = json.loads((ROOT / "contracts" / service / "openapi.json").read_text())
    return [path for path in document["paths"] if not path.startswith("/ops/")]


@pytest.mark.parametrize("service", SERVICES)
def test_every_public_route_of_the_contracts_leads_to_its_service(ingress: Ingress, service: str) -> None:
    assert public_paths(service)
    for path in public_paths(service):
        assert ingress.ask(path.replace("{", "").replace("}", ""))[::2] == (200, service.encode()), path


PRIVATE = (
    "/",
    "/ops/jobs",
    "/metrics",
    "/health/live",
    "/health/ready",
    "/docs",
    "/openapi.json",
    "/ordersx",
    "//ops/jobs",
)


@pytest.mark.parametrize("path", [*PRIVATE, "/orders/../ops/jobs", "/orders/%2e%2e/ops/jobs", "/%6fps/jobs"])
def test_nothing_else_reaches_an_api(ingress: Ingress, apis: dict[str, Api], path: str) -> None:
    before = [len(api.paths) for api in apis.values()]
    status, headers, body = ingress.ask(path)
    assert (status, json.loads(body)["title"]) == (404, "Not Found")
    assert dict(headers)["content-type"] == "application/problem+json"
    assert [len(api.paths) for api in apis.values()] == before


@pytest.mark.parametrize("path", ["/orders", "/nowhere"])
def test_every_answer_has_each_security_header_once(ingress: Ingress, path: str) -> None:
    _, headers, _ = ingress.ask(path)
    wanted = SECURITY_HEADERS if path == "/orders" else {**SECURITY_HEADERS} | {"cross-origin-resource-policy": None}
    for name, value in wanted.items():
        assert [given for key, given in headers if key == name] == ([value] if value else [])
    assert "server" not in dict(headers) or "Caddy" not in dict(headers)["server"]


def test_a_body_that_no_api_would_take_ends_at_the_ingress(ingress: Ingress) -> None:
    assert ingress.ask("/orders", "POST", b"x" * MAX_BODY_BYTES)[0] == 200
    status, _, body = ingress.ask("/orders", "POST", b"x" * (MAX_BODY_BYTES + 1))
    assert (status, json.loads(body)["status"]) == (413, 413)


def test_a_request_waits_for_an_api_that_is_just_being_replaced(tmp_path: Path) -> None:
    port = free_port()
    ingress = Ingress(tmp_path, {"order": port, "payment": free_port(), "billing": free_port()})
    try:
        ingress.wait()
        begun: list[Api] = []
        later = threading.Timer(1.0, lambda: begun.append(Api("order", port)))
        later.start()
        assert ingress.ask("/orders", "POST", b"{}")[::2] == (200, b"order")
        begun[0].close()
        status, headers, body = ingress.ask("/payments")
        assert (status, json.loads(body)["status"]) == (502, 502)
        assert dict(headers)["content-type"] == "application/problem+json"
    finally:
        ingress.process.terminate()
        ingress.process.wait(10)
