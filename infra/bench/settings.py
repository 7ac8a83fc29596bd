"""Where the bench keeps its own, and on which ports its stack runs."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from native.layout import ROOT


class BenchSettings(BaseSettings):
    """Settings from the environment (FENCEPOST_BENCH_…), then from `.env` at the root, then these defaults."""

    model_config = SettingsConfigDict(
        env_prefix="FENCEPOST_BENCH_", env_file=ROOT / ".env", env_ignore_empty=True, extra="ignore"
    )

    port_base: int = Field(26000, ge=1024, le=65400)
    state_dir: Path = ROOT / ".fencepost" / "bench"
    other_python: str = ""
    """A Python for the peers that need a newer one than this; empty looks for one on the PATH."""

    @property
    def stack(self) -> Path:
        return self.state_dir / "stack"

    @property
    def logs(self) -> Path:
        return self.state_dir / "logs"
