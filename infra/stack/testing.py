"""A Swarm's manager that starts nothing: it writes down what `docker stack deploy` asks it for."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

_VERSION = re.compile(r"^/v[0-9.]+")


class SwarmDouble:
    """`services` are the specifications that were created, by name. `secrets` are those that the swarm has."""

    def __init__(self, secrets: list[str]) -> None:
        self.services: dict[str, dict[str, Any]] = {}
        self._known: dict[str, list[dict[str, Any]]] = {"networks": [], "configs": []}
        self._known["secrets"] = [{"ID": f"id-{name}", "Spec": {"Name": name}} for name in secrets]

    def answer(self, method: str, address: str, body: Any) -> Any:
        """What the engine says; None is 404."""
        parts = urlsplit(address)
        kind, *rest = _VERSION.sub("", parts.path).strip("/").split("/")
        if kind == "info":
            return {"Swarm": {"LocalNodeState": "active", "ControlAvailable": True}}
        if method == "POST" and rest == ["create"]:
            return self._create(kind, body)
        if kind in self._known and rest:
            return next(
                (one for one in self._known[kind] if rest[0] in {one.get("ID"), one.get("Id"), one.get("Name")}), None
            )
        if kind in self._known:
            wanted = json.loads(parse_qs(parts.query).get("filters", ["{}"])[0]).get("name", {})
            names = wanted if isinstance(wanted, list) else list(wanted)
            return [one for one in self._known[kind] if not names or one.get("Spec", one).get("Name") in names]
        return []

    def _create(self, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        name = body["Name"]
        if kind == "services":
            self.services[name] = body
        elif kind == "networks":
            self._known[kind].append({"Id": f"id-{name}", **body, "Scope": "swarm"})
        else:
            self._known[kind].append({"ID": f"id-{name}", "Spec": body})
        return {"ID": f"id-{name}", "Id": f"id-{name}"}


@contextmanager
def answering(swarm: SwarmDouble) -> Iterator[str]:
    """Within it the engine answers at the address, which is a DOCKER_HOST."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = self.rfile.read(length)
            found = "OK" if "_ping" in self.path else swarm.answer(self.command, self.path, json.loads(body or b"null"))
            text = json.dumps({"message": "there is none"} if found is None else found).encode()
            self.send_response(404 if found is None else 200)
            for name, value in (
                ("Api-Version", "1.47"),
                ("Ostype", "linux"),
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(text))),
            ):
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)

        do_GET = do_POST = do_HEAD = _reply  # noqa: N815 - the library calls them so

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"tcp://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
