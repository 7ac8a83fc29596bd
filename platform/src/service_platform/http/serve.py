"""Serving an application as a process of the suite."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from service_platform.process import Body, run_process, run_together
from service_platform.settings import ServiceSettings

_DRAIN_SECONDS = 10
_KEEP_ALIVE_SECONDS = 75  # longer than a client's or proxy's pool keeps a connection, so that they close it first


class ServerEnded(RuntimeError):
    """The server could not start, or ended although nobody had asked it to."""


def run_api(app: ASGIApp, settings: ServiceSettings, *, beside: Sequence[Body] = ()) -> None:
    """Serve `app` on `settings.http_host` and `http_port` until a signal, then exit (see `run_process`).

    At the signal it stops accepting, and requests in flight have 10 s to end. `beside` are loops that belong to this
    process, such as the outbox's wake-up; if one of them fails, the process ends.
    """
    server = _Server(
        uvicorn.Config(
            app,
            host=settings.http_host,
            port=settings.http_port,
            http="httptools",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
    )

    async def body(stop: asyncio.Event) -> None:
        await run_together(stop, server.run_until, *beside)

    run_process("api", settings, body, ready=lambda: server.started)


class _Server(uvicorn.Server):
    """uvicorn's server under our process runner, which owns the signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def run_until(self, stop: asyncio.Event) -> None:
        serving = asyncio.ensure_future(self._serve_or_raise())
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            self.should_exit = True
            await serving
        finally:
            stopping.cancel()
            serving.cancel()

    async def _serve_or_raise(self) -> None:
        try:
            await self.serve()
        except SystemExit as error:  # uvicorn's way to say that it could not start; it has logged why
            raise ServerEnded("the HTTP server could not start: the lines above say why") from error
