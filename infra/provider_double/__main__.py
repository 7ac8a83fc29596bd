"""`python -m provider_double`: serve until SIGTERM or SIGINT."""

import signal
import sys
from types import FrameType

import uvicorn

from provider_double.app import create_app
from provider_double.connections import Connections
from provider_double.faults import Faults
from provider_double.settings import SettingMissingError, Settings


class _Server(uvicorn.Server):
    """Gives held calls up as soon as it is told to stop; otherwise the stop would wait for their release."""

    def __init__(self, config: uvicorn.Config, faults: Faults) -> None:
        super().__init__(config)
        self._faults = faults

    async def shutdown(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        self._faults.abandon()
        await super().shutdown()


def main() -> None:
    # uvicorn raises the signal that stopped it once more when it is done; a clean stop shall exit with 0.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    try:
        settings = Settings.from_environment()
    except SettingMissingError as error:
        sys.exit(f"provider_double: {error}")
    connections = Connections()
    faults = Faults()
    config = uvicorn.Config(
        create_app(settings, connections, faults),
        host=settings.host,
        port=settings.port,
        http=connections.protocol(),
        # A rewritten peer address would cut the wrong connection.
        proxy_headers=False,
        access_log=False,
        log_level="warning",
        # Clients drop idle connections first, so none of them races with our close.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=3,
    )
    _Server(config, faults).run()


def _exit(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
