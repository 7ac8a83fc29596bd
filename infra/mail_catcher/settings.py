"""What the environment says about this process."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class SettingMissingError(Exception):
    """A setting without which the catcher cannot start; the text names it."""


@dataclass(frozen=True, slots=True)
class Settings:
    host: str
    smtp_port: int
    http_port: int
    state_dir: Path

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Read MAIL_*.

        Raises:
            SettingMissingError: there is no state folder to keep the mails in.
        """
        state_dir = environ.get("MAIL_STATE_DIR", "")
        if not state_dir:
            raise SettingMissingError("set MAIL_STATE_DIR to the folder that keeps the mails")
        return cls(
            host=environ.get("MAIL_HOST", "127.0.0.1"),
            smtp_port=int(environ.get("MAIL_SMTP_PORT", "18025")),
            http_port=int(environ.get("MAIL_HTTP_PORT", "18020")),
            state_dir=Path(state_dir),
        )
