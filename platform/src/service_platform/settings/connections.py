"""How a service reaches its database, the brokers of events, and the broker of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import quote, urlencode

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings

from service_platform.database import DatabaseAddress

Port = Annotated[int, Field(ge=1, le=65535)]


class ConnectionSettings(BaseSettings):
    """Addresses, credentials and TLS of the three stores.

    TLS is off unless a setting asks for it. Outside development each of the three must be decided on, so that nothing
    goes in the clear because nobody thought of it. Where it is on, the server's certificate is checked against the CA
    file that is named, or the system's CAs, and against the host's name; only DATABASE_SSLMODE=require leaves that out.
    """

    database_host: str
    database_port: Port = 5432
    database_name: str
    database_user: str
    database_password: SecretStr
    database_owner_user: str | None = None
    database_owner_password: SecretStr | None = None
    database_pool_size: Annotated[int, Field(ge=1, le=200)] = 10
    database_sslmode: Literal["disable", "require", "verify-full"] | None = None
    database_sslrootcert: Path | None = None

    kafka_bootstrap_servers: str
    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] | None = None
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    kafka_sasl_username: str | None = None
    kafka_sasl_password: SecretStr | None = None
    kafka_ca_file: Path | None = None

    redis_host: str
    redis_port: Port = 6379
    redis_username: str | None = None
    redis_password: SecretStr
    redis_tls: bool | None = None
    redis_ca_file: Path | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self._kafka_has_login and (self.kafka_sasl_username is None or self.kafka_sasl_password is None):
            raise ValueError(
                f"KAFKA_SECURITY_PROTOCOL={self.kafka_security_protocol} needs KAFKA_SASL_USERNAME, and "
                "KAFKA_SASL_PASSWORD or KAFKA_SASL_PASSWORD_FILE"
            )
        if self.kafka_sasl_password is not None and not self._kafka_has_login:
            raise ValueError("KAFKA_SASL_PASSWORD is set and not used: set KAFKA_SECURITY_PROTOCOL=SASL_SSL")
        for name in ("database_sslrootcert", "kafka_ca_file", "redis_ca_file"):
            file: Path | None = getattr(self, name)
            if file is not None and not file.is_file():
                raise ValueError(f"{name.upper()} names {file}, where no file is. Mount the CA's certificate")
        return self

    def unsafe_connections(self) -> Iterator[str]:
        """Why these connections must not leave a development machine, one reason each."""
        trusted = "where you trust the network in between"
        if self.database_sslmode is None:
            yield f"DATABASE_SSLMODE is not decided on: verify-full, or disable {trusted}"
        if self.kafka_security_protocol is None:
            yield f"KAFKA_SECURITY_PROTOCOL is not decided on: SASL_SSL, or PLAINTEXT {trusted}"
        if self.redis_tls is None:
            yield f"REDIS_TLS is not decided on: true, or false {trusted}"
        if self.kafka_security_protocol == "SASL_PLAINTEXT" and self.kafka_sasl_mechanism == "PLAIN":
            yield "KAFKA_SASL_MECHANISM=PLAIN without TLS shows the password to the network"

    def database_address(self) -> DatabaseAddress:
        """The service's own database, as the role that runs."""
        return self._database_as(self.database_user, self.database_password)

    def owner_address(self) -> DatabaseAddress:
        """The same database as the role that migrates; running processes do not have its password.

        Raises ValueError when DATABASE_OWNER_USER or DATABASE_OWNER_PASSWORD is not set.
        """
        if self.database_owner_user is None or self.database_owner_password is None:
            raise ValueError(
                "Migrations run as the owner role: set DATABASE_OWNER_USER, and DATABASE_OWNER_PASSWORD or "
                "DATABASE_OWNER_PASSWORD_FILE."
            )
        return self._database_as(self.database_owner_user, self.database_owner_password)

    def kafka_security(self) -> dict[str, str]:
        """What the Kafka client is told beside the brokers' addresses, in its own words. Holds the password."""
        told: dict[str, str] = {}
        if self.kafka_security_protocol is not None:
            told["security.protocol"] = self.kafka_security_protocol
        if self.kafka_sasl_username is not None and self.kafka_sasl_password is not None:
            told["sasl.mechanisms"] = self.kafka_sasl_mechanism
            told["sasl.username"] = self.kafka_sasl_username
            told["sasl.password"] = self.kafka_sasl_password.get_secret_value()
        if self.kafka_ca_file is not None:
            told["ssl.ca.location"] = str(self.kafka_ca_file)
        return told

    def redis_url(self) -> str:
        """The broker's address with its password in it: hand it to the client, never to a log."""
        login = f"{quote(self.redis_username or '', safe='')}:{quote(self.redis_password.get_secret_value(), safe='')}"
        place = f"{login}@{self.redis_host}:{self.redis_port}/0"
        if not self.redis_tls:
            return f"redis://{place}"
        tls = {"ssl_cert_reqs": "required", "ssl_check_hostname": "true"}
        if self.redis_ca_file is not None:
            tls["ssl_ca_certs"] = str(self.redis_ca_file)
        return f"rediss://{place}?{urlencode(tls)}"

    @property
    def _kafka_has_login(self) -> bool:
        return (self.kafka_security_protocol or "").startswith("SASL_")

    def _database_as(self, user: str, password: SecretStr) -> DatabaseAddress:
        return DatabaseAddress(
            host=self.database_host,
            port=self.database_port,
            name=self.database_name,
            user=user,
            password=password.get_secret_value(),
            sslmode=self.database_sslmode or "disable",
            sslrootcert=str(self.database_sslrootcert) if self.database_sslrootcert else None,
        )
