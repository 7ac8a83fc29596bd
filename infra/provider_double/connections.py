"""Open connections by peer, so that one can be cut in the middle of a call, as a failing network does."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Connections:
    """Filled by the protocol class that `protocol()` makes for uvicorn."""

    def __init__(self) -> None:
        self._transports: dict[tuple[str, int], asyncio.Transport] = {}

    def cut(self, peer: tuple[str, int]) -> None:
        """Close the connection of this peer now, unless the peer has left; nothing more is sent on it."""
        transport = self._transports.get(peer)
        if transport is not None:
            transport.abort()

    def protocol(self) -> type[asyncio.Protocol]:
        transports = self._transports

        class TrackedProtocol(HttpToolsProtocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                if self.client is not None:
                    transports[self.client] = transport

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                if self.client is not None:
                    transports.pop(self.client, None)

        return TrackedProtocol
