"""TLS and credentials of the three stores: what settings ask for, and that it holds against a server."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import socketserver
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from confluent_kafka import KafkaException, Producer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import ValidationError
from sqlalchemy.exc import DBAPIError
from test_settings_from_environment import DEVELOPMENT, PRODUCTION

from service_platform.database import Database, DatabaseAddress
from service_platform.event_bus import ConsumerEngine, KafkaSink
from service_platform.event_bus.retention import topic_retentions
from service_platform.jobs.broker import Broker
from service_platform.jobs.celery_app import celery_app
from service_platform.jobs.drain import Drain
from service_platform.jobs.keeper import LeaseKeeper
from service_platform.outbox.connection import open_connection
from service_platform.settings import ServiceSettings

_SASL = {
    "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
    "KAFKA_SASL_USERNAME": "order",
    "KAFKA_SASL_PASSWORD": "k" * 24,
}


def settings(variables: dict[str, str], **more: str) -> ServiceSettings:
    return ServiceSettings(**{name.lower(): value for name, value in (variables | more).items()})


def refusal(variables: dict[str, str], **more: str) -> str:
    with pytest.raises(ValidationError) as refused:
        settings(variables, **more)
    return str(refused.value)


class Authority:
    """A CA of this test, with a certificate for 127.0.0.1 that it has signed."""

    def __init__(self, folder: Path, name: str) -> None:
        self.ca, self.certificate, self.key = (folder / f"{name}-{part}.pem" for part in ("ca", "server", "key"))
        ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        server = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
        now = datetime.datetime.now(datetime.UTC)

        def signed(subject: x509.Name, of: ec.EllipticCurvePrivateKey, *, ca: bool) -> bytes:
            address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
            usage = x509.KeyUsage(True, False, False, False, False, ca, ca, False, False)
            builder = (
                x509.CertificateBuilder(issuer, subject, of.public_key(), x509.random_serial_number())
                .not_valid_before(now - datetime.timedelta(days=1))
                .not_valid_after(now + datetime.timedelta(days=1))
                .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
                .add_extension(usage, critical=True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(of.public_key()), critical=False)
                .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
                .add_extension(address, critical=False)
            )
            return builder.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

        self.ca.write_bytes(signed(issuer, ca_key, ca=True))
        self.certificate.write_bytes(signed(server, key, ca=False))
        plain = serialization.NoEncryption()
        self.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "ours")


@pytest.fixture
def stranger(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "another")


@pytest.fixture
async def tls_database(authority: Authority) -> AsyncIterator[DatabaseAddress]:
    """A server that takes TLS as PostgreSQL does, and refuses everybody's login once it is spoken."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(authority.certificate, authority.key)
    refused = b"SFATAL\0C28000\0Mnobody may enter\0\0"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(8)
        if first[4:] == (80877103).to_bytes(4, "big"):  # SSLRequest
            writer.write(b"S")
            try:
                await writer.start_tls(context)
                await reader.readexactly(8)
            except (OSError, asyncio.IncompleteReadError):
                writer.close()
                return
            writer.write(b"E" + (len(refused) + 4).to_bytes(4, "big") + refused)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield DatabaseAddress("127.0.0.1", port, "d", "u", "p", sslmode="verify-full", sslrootcert=str(authority.ca))


async def login(address: DatabaseAddress) -> BaseException:
    """Why one cannot log in there."""
    with pytest.raises(Exception) as refused:  # noqa: PT011 - which one it is, is what the caller looks at
        await asyncpg.connect(**address.driver_arguments(), timeout=5)
    return refused.value


async def test_a_database_is_believed_by_its_ca_and_not_by_another(
    tls_database: DatabaseAddress, stranger: Authority
) -> None:
    assert isinstance(await login(tls_database), asyncpg.InvalidAuthorizationSpecificationError)
    assert isinstance(await login(replace(tls_database, sslrootcert=str(stranger.ca))), ssl.SSLCertVerificationError)
    assert isinstance(await login(replace(tls_database, sslrootcert=None)), ssl.SSLCertVerificationError)


async def test_a_database_is_believed_by_its_name_only_where_that_is_asked_for(tls_database: DatabaseAddress) -> None:
    another_name = replace(tls_database, host="localhost")
    assert isinstance(await login(another_name), ssl.SSLCertVerificationError)
    encrypted_at_least = replace(another_name, sslmode="require", sslrootcert=None)
    assert isinstance(await login(encrypted_at_least), asyncpg.InvalidAuthorizationSpecificationError)


async def test_every_connection_of_a_process_goes_that_way(tls_database: DatabaseAddress) -> None:
    database = Database(tls_database, application_name="test")
    with pytest.raises(DBAPIError, match="nobody may enter"):
        async with database.read():
            pass
    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
        async with open_connection(database, "test"):
            pass
    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
        await LeaseKeeper(tls_database, application_name="test", drain=Drain())._connected()
    await database.close()


def test_both_roles_go_the_same_way_to_the_database(authority: Authority) -> None:
    found = settings(
        PRODUCTION,
        DATABASE_SSLROOTCERT=str(authority.ca),
        DATABASE_OWNER_USER="order_owner",
        DATABASE_OWNER_PASSWORD="o" * 24,
    )
    for address in (found.database_address(), found.owner_address()):
        assert (address.sslmode, address.sslrootcert) == ("verify-full", str(authority.ca))
    assert settings(DEVELOPMENT).database_address().tls() is False


class _Greeter(socketserver.StreamRequestHandler):
    """Speaks enough of Redis for a client to log in and to ask whether it is heard."""

    def handle(self) -> None:
        while header := self.rfile.readline():
            words = [self.rfile.read(int(self.rfile.readline()[1:]) + 2).strip() for _ in range(int(header[1:]))]
            self.wfile.write(b"+PONG\r\n" if words[0] == b"PING" else b"+OK\r\n")


class _TlsServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    context: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        with contextlib.suppress(OSError), self.context.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)


@pytest.fixture
def tls_broker(authority: Authority) -> Iterator[int]:
    """The port of a server that speaks TLS alone."""
    with _TlsServer(("127.0.0.1", 0), _Greeter) as server:
        server.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        server.context.load_cert_chain(authority.certificate, authority.key)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_celery_reaches_its_broker_by_tls_and_believes_no_other_ca(
    tls_broker: int, authority: Authority, stranger: Authority
) -> None:
    def reach(ca: Path) -> None:
        url = settings(
            DEVELOPMENT, REDIS_PORT=str(tls_broker), REDIS_PASSWORD="secret", REDIS_TLS="true", REDIS_CA_FILE=str(ca)
        ).redis_url()
        with celery_app(Broker("order", url)).connection_for_write() as connection:
            connection.default_channel.client.ping()

    reach(authority.ca)
    with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
        reach(stranger.ca)


def test_the_kafka_client_takes_what_settings_say(authority: Authority) -> None:
    told = settings(PRODUCTION | _SASL, KAFKA_CA_FILE=str(authority.ca)).kafka_security()
    assert told == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "SCRAM-SHA-512",
        "sasl.username": "order",
        "sasl.password": "k" * 24,
        "ssl.ca.location": str(authority.ca),
    }
    Producer({**told, "bootstrap.servers": "127.0.0.1:1", "log_level": 0}).purge()
    assert settings(DEVELOPMENT).kafka_security() == {}


async def test_the_relay_and_the_consumers_tell_their_clients() -> None:
    odd = {"security.protocol": "odd"}
    with pytest.raises(KafkaException, match="odd"):
        KafkaSink("127.0.0.1:1", security=odd)
    database = Database(DatabaseAddress("127.0.0.1", 1, "d", "u", "p"), application_name="test")
    engine = ConsumerEngine(database, consumers=[], service="order", bootstrap_servers="127.0.0.1:1", security=odd)
    with pytest.raises(KafkaException, match="odd"):
        topic_retentions(engine._brokers, ["events.order"])
    await database.close()


def test_a_login_at_kafka_is_whole_or_refused() -> None:
    without_password = {name: value for name, value in _SASL.items() if name != "KAFKA_SASL_PASSWORD"}
    assert "KAFKA_SASL_PASSWORD_FILE" in refusal(DEVELOPMENT | without_password)
    assert "is set and not used" in refusal(DEVELOPMENT, KAFKA_SASL_PASSWORD="k" * 24)


@pytest.mark.parametrize("name", ["DATABASE_SSLROOTCERT", "KAFKA_CA_FILE", "REDIS_CA_FILE"])
def test_a_ca_that_is_not_there_stops_the_start_with_its_name(name: str) -> None:
    assert f"{name} names /nowhere/ca.pem" in refusal(DEVELOPMENT, **{name: "/nowhere/ca.pem"})


@pytest.mark.parametrize("name", ["DATABASE_SSLMODE", "KAFKA_SECURITY_PROTOCOL", "REDIS_TLS"])
def test_outside_development_nothing_goes_in_the_clear_because_nobody_thought_of_it(name: str) -> None:
    undecided = {key: value for key, value in PRODUCTION.items() if key != name}
    assert f"{name} is not decided on" in refusal(undecided)
    in_the_clear = {"DATABASE_SSLMODE": "disable", "KAFKA_SECURITY_PROTOCOL": "PLAINTEXT", "REDIS_TLS": "false"}
    assert settings(undecided, **{name: in_the_clear[name]}).service_name == "order"


def test_a_password_that_the_network_could_read_stops_the_start_outside_development() -> None:
    plain = _SASL | {"KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_SASL_MECHANISM": "PLAIN"}
    assert "shows the password" in refusal(PRODUCTION | plain)
    assert settings(PRODUCTION | plain, KAFKA_SASL_MECHANISM="SCRAM-SHA-256").kafka_sasl_username == "order"
