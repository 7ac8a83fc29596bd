"""Settings: every secret by NAME or NAME_FILE, and one readable message for everything that is wrong."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from service_platform.settings import EXIT_CONFIGURATION, ServiceSettings, load

DEVELOPMENT = {
    "ENVIRONMENT": "development",
    "SERVICE_NAME": "order",
    "DATABASE_HOST": "127.0.0.1",
    "DATABASE_NAME": "order_db",
    "DATABASE_USER": "order_app",
    "DATABASE_PASSWORD": "database-password",
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9092",
    "REDIS_HOST": "127.0.0.1",
    "REDIS_PASSWORD": "redis:pass/word@1",
    "JWT_ISSUER": "https://fencepost.local/",
    "JWT_AUDIENCE": "fencepost",
    "JWT_JWKS_URL": "file:///run/secrets/jwks.json",
}
PRODUCTION = DEVELOPMENT | {
    "ENVIRONMENT": "production",
    "DATABASE_PASSWORD": "d" * 24,
    "REDIS_PASSWORD": "r" * 24,
    "JWT_ISSUER": "https://id.example.com/",
    "JWT_JWKS_URL": "https://id.example.com/jwks.json",
    "DATABASE_SSLMODE": "verify-full",
    "KAFKA_SECURITY_PROTOCOL": "SSL",
    "REDIS_TLS": "true",
}


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Start with exactly these variables: the settings, or what the operator reads."""

    def run(variables: dict[str, str], settings_class: type[ServiceSettings] = ServiceSettings):
        for name in ServiceSettings.model_fields:
            monkeypatch.delenv(name.upper(), raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        try:
            return load(settings_class)
        except SystemExit as end:
            assert end.code == EXIT_CONFIGURATION  # noqa: PT017 - both outcomes are what is tested
            return capsys.readouterr().err

    return run


def without(name: str) -> dict[str, str]:
    return {key: value for key, value in DEVELOPMENT.items() if key != name}


def test_a_secret_is_read_by_name(start) -> None:
    assert start(DEVELOPMENT).database_address().password == "database-password"


def test_a_secret_is_read_from_the_file_that_name_file_names_without_its_line_end(start, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_bytes("mật khẩu \n".encode())
    settings = start(without("DATABASE_PASSWORD") | {"DATABASE_PASSWORD_FILE": str(file)})
    assert settings.database_address().password == "mật khẩu "


@pytest.mark.parametrize("variables", [without("DATABASE_PASSWORD"), DEVELOPMENT | {"DATABASE_PASSWORD": ""}])
def test_a_missing_or_empty_secret_stops_the_start_with_its_name_and_the_mend(start, variables) -> None:
    said = start(variables)
    assert "DATABASE_PASSWORD is not set. Set DATABASE_PASSWORD, or DATABASE_PASSWORD_FILE" in said
    assert "Traceback" not in said


def test_both_ways_at_once_are_refused(start, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("x")
    assert "both set" in start(DEVELOPMENT | {"DATABASE_PASSWORD_FILE": str(file)})


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "cannot be read"), (b"\n", "is empty"), (b"\xff\xfe", "not UTF-8"), (b"x" * 70_000, "larger")],
)
def test_an_unusable_secret_file_is_named_with_the_reason(start, tmp_path: Path, content, reason: str) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    said = start(without("REDIS_PASSWORD") | {"REDIS_PASSWORD_FILE": str(file)})
    assert reason in said
    assert str(file) in said


def test_every_mistake_is_told_at_once_and_no_secret_with_it(start) -> None:
    said = start(without("REDIS_HOST") | {"HTTP_PORT": "eighty", "JWT_JWKS_URL": "ftp://x", "SERVICE_NAME": "Order 1"})
    for name in ("REDIS_HOST", "HTTP_PORT", "JWT_JWKS_URL", "SERVICE_NAME"):
        assert name in said
    assert "database-password" not in said


def test_a_subclass_reads_its_own_secret_the_same_way(start, tmp_path: Path) -> None:
    class PaymentSettings(ServiceSettings):
        stripe_api_key: SecretStr

    file = tmp_path / "key"
    file.write_text("sk_test_1\n")
    assert "STRIPE_API_KEY_FILE" in start(DEVELOPMENT, PaymentSettings)
    settings = start(DEVELOPMENT | {"STRIPE_API_KEY_FILE": str(file)}, PaymentSettings)
    assert settings.stripe_api_key.get_secret_value() == "sk_test_1"
    assert "sk_test_1" not in repr(settings)
    assert set(settings.secret_values()) == {"database-password", "redis:pass/word@1", "sk_test_1"}


def test_production_is_the_default_and_starts_with_safe_values(start) -> None:
    variables = {name: value for name, value in PRODUCTION.items() if name != "ENVIRONMENT"}
    assert start(variables).environment == "production"


@pytest.mark.parametrize(
    ("variable", "unsafe"),
    [
        ("DATABASE_PASSWORD", "short"),
        ("JWT_ISSUER", "https://fencepost.local/"),
        ("JWT_JWKS_URL", "http://id.example.com/jwks.json"),
    ],
)
def test_a_development_value_refuses_to_start_in_production(start, variable: str, unsafe: str) -> None:
    said = start(PRODUCTION | {variable: unsafe})
    assert variable in said
    assert "ENVIRONMENT=development" in said
    assert start(PRODUCTION | {variable: unsafe, "ENVIRONMENT": "development"}).service_name == "order"


def test_the_owner_role_is_only_there_when_its_password_is(start) -> None:
    with pytest.raises(ValueError, match="DATABASE_OWNER_PASSWORD_FILE"):
        start(DEVELOPMENT).owner_address()
    owner = start(DEVELOPMENT | {"DATABASE_OWNER_USER": "order_owner", "DATABASE_OWNER_PASSWORD": "o"}).owner_address()
    assert (owner.user, owner.password) == ("order_owner", "o")


def test_jobs_that_are_forgotten_before_the_event_that_they_came_from_stop_the_start(start) -> None:
    assert "JOB_RETENTION_DAYS" in start(DEVELOPMENT | {"INBOX_RETENTION_DAYS": "31"})
    settings = start(DEVELOPMENT | {"INBOX_RETENTION_DAYS": "31", "JOB_RETENTION_DAYS": "31"})
    assert settings.job_retention_days == 31


def test_the_broker_address_quotes_its_password(start) -> None:
    assert start(DEVELOPMENT).redis_url() == "redis://:redis%3Apass%2Fword%401@127.0.0.1:6379/0"
