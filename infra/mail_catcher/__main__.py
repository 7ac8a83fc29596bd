"""`python -m mail_catcher`: receive and serve until SIGTERM or SIGINT."""

import signal
import sys
from types import FrameType

import uvicorn

from mail_catcher.app import create_app
from mail_catcher.settings import SettingMissingError, Settings


def main() -> None:
    # uvicorn raises the signal that stopped it once more when it is done; a clean stop shall exit with 0.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    try:
        settings = Settings.from_environment()
    except SettingMissingError as error:
        sys.exit(f"mail_catcher: {error}")
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.http_port,
        access_log=False,
        log_level="warning",
        # Clients drop idle connections first, so none of them races with our close.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=3,
    )


def _exit(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
