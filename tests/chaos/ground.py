"""The stack that chaos runs on: own ports and folder, more than one of what may be many, proxies before its servers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from native.settings import StackSettings
from native.stack import Stack
from native.topology import EDGES, PORT_OFFSETS, STORES

from .blows import Targets
from .toxiproxy import Toxiproxy

# What a person would wait for in vain: nothing that is proven depends on the length of these pauses.
_QUICK = {
    "EVENT_RETRY_FIRST_SECONDS": "0.2",
    "EVENT_RETRY_LIMIT_SECONDS": "5",
    "JOB_SWEEP_INTERVAL_SECONDS": "2",
    "JOB_RESEND_AFTER_SECONDS": "5",
}
_REPLICAS = {"order-relay": 2, "payment-worker": 2, "billing-scheduler": 2}
_ROUTED = ("postgres", "valkey", "kafka", "provider", "mail-smtp")
_PASSED_ON_TO = {"kafka": "kafka-detour"}
_DETOUR_OFFSET = 200
_API_OFFSET = 99


@dataclass(frozen=True)
class Ground:
    """A running stack, and the proxies before its servers, if there are any."""

    stack: Stack
    proxies: Toxiproxy | None

    @property
    def targets(self) -> Targets:
        """All that can be struck."""
        services = [
            process.name for process in self.stack.topology.processes() if process.name not in (*STORES, *EDGES)
        ]
        return Targets(
            processes=[*services, *STORES, *EDGES],
            workers=[name for name in services if "-worker" in name],
            stores=STORES,
            routes=_ROUTED if self.proxies is not None else (),
        )


@contextlib.contextmanager
def prepared(
    state: Path, port_base: int, *, toxiproxy: Path | None, keep: bool = False, say: Callable[[str], None] = print
) -> Iterator[Ground]:
    """A stack made from nothing; at the end it is stopped, and its logs stay."""
    ports = {name: port_base + offset for name, offset in PORT_OFFSETS.items()}
    routes = {
        name: (ports[name] + _DETOUR_OFFSET, ports[_PASSED_ON_TO.get(name, name)])
        for name in (_ROUTED if toxiproxy is not None else ())
    }
    stack = Stack(
        state,
        port_base,
        settings=StackSettings(service_settings=_QUICK),
        replicas=_REPLICAS,
        detours={name: listen for name, (listen, _) in routes.items()},
        port_setting="FENCEPOST_CHAOS_PORT_BASE",
        say=say,
    )
    if not keep:
        stack.clean()
    stack.layout.make()
    with contextlib.ExitStack() as open_now:
        proxies = None
        if toxiproxy is not None:
            log = stack.layout.logs / "toxiproxy.log"
            proxies = open_now.enter_context(Toxiproxy(toxiproxy, port_base + _API_OFFSET, routes, log))
        open_now.callback(stack.down)
        stack.up()
        yield Ground(stack, proxies)
