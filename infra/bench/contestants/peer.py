"""A public peer: its relay runs in an environment of its own, and makes its table itself."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from bench.lab import Connection
from bench.peers import PeerMissing

from .contestant import TableContestant

_MAKE_TABLES_SECONDS = 180.0


class Peer(TableContestant):
    """The relay's program, told MAKE_TABLES, makes its tables by the package's own means and ends."""

    newer_python: ClassVar[bool] = False

    def missing(self) -> str | None:
        try:
            self.lab.peers.python(newer=self.newer_python)
        except PeerMissing as missing:
            return str(missing)
        return None

    @property
    def python(self) -> str:
        return self.lab.peers.python(newer=self.newer_python)

    async def make_tables(self, connection: Connection) -> None:
        del connection
        program = self.script(self.relay, "none", MAKE_TABLES="1")
        process = await asyncio.create_subprocess_exec(
            *program.argv, env=dict(program.env), cwd=program.cwd, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(_MAKE_TABLES_SECONDS):
            _, complaint = await process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{self.name} could not make its tables: {complaint.decode(errors='replace')[-1000:]}")
