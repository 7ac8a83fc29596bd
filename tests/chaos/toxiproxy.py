"""Toxiproxy before the stack's servers, so that connections can be cut and slowed (https://github.com/Shopify/toxiproxy)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from native.go_tools import GoTool

TOXIPROXY = GoTool("toxiproxy", "github.com/Shopify/toxiproxy/v2/cmd/server", "v2.12.0")

_START_SECONDS = 30.0


class Toxiproxy:
    """A running server with one proxy a route; a context that ends it.

    `routes` gives each server's name the port to listen on and the port to pass on to, all on the loopback address.
    """

    def __init__(self, program: Path, api_port: int, routes: Mapping[str, tuple[int, int]], log: Path) -> None:
        self._program = program
        self._routes = routes
        self._log = log
        self._port = api_port
        self._api = httpx.Client(base_url=f"http://127.0.0.1:{api_port}", timeout=10.0, trust_env=False)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(self._program), "-host", "127.0.0.1", "-port", str(self._port)], stdout=log, stderr=log
            )
        self._wait(self._process)
        for name, (listen, upstream) in self._routes.items():
            proxy = {"name": name, "listen": f"127.0.0.1:{listen}", "upstream": f"127.0.0.1:{upstream}"}
            self._api.post("/proxies", json=proxy).raise_for_status()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._api.close()
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)

    def cut(self, name: str) -> None:
        """Close the server's connections, and refuse new ones."""
        self._api.post(f"/proxies/{name}", json={"enabled": False}).raise_for_status()

    def slow(self, name: str) -> None:
        """Let what the server says come 0.3 s later, and less evenly."""
        toxic = {
            "name": "slow",
            "type": "latency",
            "stream": "downstream",
            "attributes": {"latency": 300, "jitter": 200},
        }
        self._api.post(f"/proxies/{name}/toxics", json=toxic).raise_for_status()

    def mend(self) -> None:
        """All connections as they should be."""
        self._api.post("/reset").raise_for_status()

    def mend_one(self, name: str) -> None:
        """This server's connections as they should be."""
        self._api.post(f"/proxies/{name}", json={"enabled": True}).raise_for_status()
        if self._api.get(f"/proxies/{name}/toxics").json():
            self._api.delete(f"/proxies/{name}/toxics/slow").raise_for_status()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                self._api.get("/version").raise_for_status()
            except httpx.TransportError as error:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"toxiproxy did not start: {self._log.read_text()[-500:]}") from error
                time.sleep(0.05)
            else:
                return
