"""Where a running suite is: its addresses on this host and its state folder."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).resolve().parents[2]


class Suite(BaseSettings):
    """A stack's ports and state folder: from `FENCEPOST_PORT_BASE` and `FENCEPOST_STATE_DIR`, or those of `make up`.

    Where each service listens is an offset from the base, the same for the native stack and for compose.
    """

    model_config = SettingsConfigDict(
        env_prefix="FENCEPOST_", env_file=ROOT / ".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    port_base: int = Field(18000, ge=1024, le=65400)
    state_dir: Path = ROOT / ".fencepost" / "dev"

    @property
    def order_url(self) -> str:
        return self._url(1)

    @property
    def payment_url(self) -> str:
        return self._url(2)

    @property
    def billing_url(self) -> str:
        return self._url(3)

    @property
    def provider_url(self) -> str:
        return self._url(10)

    @property
    def mail_url(self) -> str:
        return self._url(20)

    @property
    def secrets(self) -> Path:
        return self.state_dir / "secrets"

    def where_to_look(self, *processes: str) -> str:
        """How to read the logs of these processes."""
        return "; ".join(f"make logs S={name} ({self.state_dir / 'logs' / name}.log)" for name in processes)

    def _url(self, offset: int) -> str:
        return f"http://127.0.0.1:{self.port_base + offset}"
