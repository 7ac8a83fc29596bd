"""What every service of the suite is configured by."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from .connections import ConnectionSettings, Port
from .secrets import SecretsSource

_SHORTEST_SECRET = 16  # below it, a secret outside development is taken for one that somebody typed


class Environment(StrEnum):
    """Where the suite runs. Anything but development refuses values that are only safe on one's own machine."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class ServiceSettings(ConnectionSettings):
    """The settings that all services share. A service adds its own fields in a subclass in its `settings.py`.

    Each field is read from the environment variable of the same name in capitals; a `SecretStr` field also from the
    file that NAME_FILE names. There are no .env files at run time: what a process was started with is what it has.
    Use `load(...)` in entry points, which turns a mistake into one readable message.
    """

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True)

    environment: Environment = Environment.PRODUCTION
    service_name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    http_host: str = "127.0.0.1"
    http_port: Port = 8000

    jwt_issuer: str
    jwt_audience: str
    jwt_jwks_url: str

    rate_limit: Annotated[str, Field(pattern=r"^(off|[1-9][0-9]{0,8}/(second|minute|hour))$")] = "600/minute"

    health_file: Path | None = None
    worker_concurrency: Annotated[int, Field(ge=1, le=64)] = 2
    event_retry_first_seconds: Annotated[float, Field(gt=0, le=3600)] = 1.0
    event_retry_limit_seconds: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    outbox_retention_days: Annotated[int, Field(ge=1, le=3650)] = 3
    inbox_retention_days: Annotated[int, Field(ge=1, le=3650)] = 30
    idempotency_retention_days: Annotated[int, Field(ge=1, le=3650)] = 7
    event_wake_interval_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    job_sweep_interval_seconds: Annotated[float, Field(gt=0, le=3600)] = 5.0
    job_resend_after_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    job_retention_days: Annotated[int, Field(ge=1, le=3650)] = 30
    tick_look_seconds: Annotated[float, Field(gt=0, le=30)] = 15.0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        assert isinstance(env_settings, EnvSettingsSource)
        return init_settings, SecretsSource(settings_cls), env_settings

    @field_validator("jwt_jwks_url")
    @classmethod
    def _known_scheme(cls, url: str) -> str:
        if urlsplit(url).scheme not in {"https", "http", "file"}:
            raise ValueError("give an https://, http:// or file:// address")
        return url

    @model_validator(mode="after")
    def _safe_for_its_environment(self) -> Self:
        if self.environment is not Environment.DEVELOPMENT:
            reasons = list(self.unsafe_outside_development())
            if reasons:
                raise ValueError(
                    "; ".join(reasons) + ". Change them, or set ENVIRONMENT=development on your own machine."
                )
        return self

    @model_validator(mode="after")
    def _jobs_outlive_the_inbox(self) -> Self:
        if self.job_retention_days < self.inbox_retention_days:
            raise ValueError(
                f"JOB_RETENTION_DAYS is {self.job_retention_days}, less than INBOX_RETENTION_DAYS "
                f"({self.inbox_retention_days}). A job's row is what stops its key from being enqueued a second time: "
                "keep it at least as long as the inbox remembers the event that it came from."
            )
        return self

    def unsafe_outside_development(self) -> Iterator[str]:
        """Why these settings must not leave a development machine, one reason each. Subclasses add their own."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, SecretStr) and len(value.get_secret_value()) < _SHORTEST_SECRET:
                yield f"{name.upper()} is shorter than {_SHORTEST_SECRET} characters"
        yield from self.unsafe_connections()
        if urlsplit(self.jwt_issuer).hostname in {"fencepost.local", "localhost", "127.0.0.1"}:
            yield "JWT_ISSUER is the development issuer"
        if self.jwt_jwks_url.startswith("http://"):
            yield "JWT_JWKS_URL is plain http, so anyone on the way can hand out keys"

    def secret_values(self) -> list[str]:
        """Every secret in plain text, for the log pipeline to blot out."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
