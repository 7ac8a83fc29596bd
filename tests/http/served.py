"""An application behind a real server, in a thread of its own: what requests are parsed and answered by is uvicorn."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI


@contextlib.contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address at which `app` is served on loopback, as `service_platform.http.run_api` serves it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        server = uvicorn.Server(
            uvicorn.Config(app, http="httptools", ws="none", lifespan="on", log_config=None, access_log=False)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="served")
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive(), "the server ended before it served: its log says why"
        assert time.monotonic() < deadline, "the server did not start within 20 s"
        time.sleep(0.01)
