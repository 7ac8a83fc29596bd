"""What the environment says about this process."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class SettingMissingError(Exception):
    """A setting without which the double cannot start; the text names it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Addresses, secrets and the state folder. An empty `webhook_url` means that no webhook is sent."""

    host: str
    port: int
    state_dir: Path
    api_key: str
    webhook_url: str
    webhook_secret: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Read PROVIDER_*; a secret comes by NAME or, as a file's content, by NAME_FILE.

        Raises:
            SettingMissingError: no API key, no state folder, or a webhook address without the secret to sign with.
        """
        api_key = _secret(environ, "PROVIDER_API_KEY")
        webhook_url = environ.get("PROVIDER_WEBHOOK_URL", "")
        webhook_secret = _secret(environ, "PROVIDER_WEBHOOK_SECRET")
        state_dir = environ.get("PROVIDER_STATE_DIR", "")
        if not api_key:
            raise SettingMissingError("set PROVIDER_API_KEY or PROVIDER_API_KEY_FILE")
        if not state_dir:
            raise SettingMissingError("set PROVIDER_STATE_DIR to the folder that keeps the provider's ledger")
        if webhook_url and not webhook_secret:
            raise SettingMissingError(
                "PROVIDER_WEBHOOK_URL needs PROVIDER_WEBHOOK_SECRET or PROVIDER_WEBHOOK_SECRET_FILE"
            )
        return cls(
            host=environ.get("PROVIDER_HOST", "127.0.0.1"),
            port=int(environ.get("PROVIDER_PORT", "18010")),
            state_dir=Path(state_dir),
            api_key=api_key,
            webhook_url=webhook_url,
            webhook_secret=webhook_secret,
        )


def _secret(environ: Mapping[str, str], name: str) -> str:
    if file := environ.get(f"{name}_FILE"):
        return Path(file).read_text(encoding="utf-8").strip()
    return environ.get(name, "")
