"""What a person may change about the stack: `.env.example` lists the same settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from .layout import ROOT


class StackSettings(BaseSettings):
    """Settings from the environment, then from `.env` at the root, then these defaults."""

    model_config = SettingsConfigDict(
        env_prefix="FENCEPOST_", env_file=ROOT / ".env", env_ignore_empty=True, extra="ignore"
    )

    port_base: int = Field(18000, ge=1024, le=65400)
    state_dir: Path = ROOT / ".fencepost" / "dev"
    test_port_base: int = Field(28000, ge=1024, le=65400)
    log_level: str = "INFO"
    worker_concurrency: int = Field(2, ge=1, le=64)
    stripe_api_base: str = ""
    stripe_api_key_file: Path | None = None
    stripe_webhook_secret_file: Path | None = None
    service_settings: dict[str, str] = {}
    """Further settings of every service process, as a JSON object: `{"EVENT_RETRY_FIRST_SECONDS": "0.2"}`."""
