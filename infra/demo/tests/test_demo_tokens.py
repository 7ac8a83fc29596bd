"""Tokens that the services accept, and clear words when there is no key to sign with."""

from pathlib import Path

import jwt
import pytest
from typer.testing import CliRunner

from demo.__main__ import cli
from demo.suite import Suite
from demo.tokens import AUDIENCE, ISSUER, NoSigningKey, Tokens


def test_a_token_carries_who_and_what_under_the_published_key(suite: Suite) -> None:
    token = Tokens(suite.secrets).bearer("ann", "orders:write  orders:read")
    published = jwt.PyJWKSet.from_json((suite.secrets / "jwks.json").read_text())
    key = published[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=ISSUER)
    assert claims["sub"] == "ann"
    assert claims["scope"] == "orders:write orders:read"
    assert claims["exp"] - claims["iat"] == 3600


def test_a_token_is_kept_and_not_signed_again_for_each_request(suite: Suite) -> None:
    tokens = Tokens(suite.secrets)
    assert tokens.bearer("ann", "orders:read") == tokens.bearer("ann", "orders:read")
    assert tokens.bearer("ann", "orders:read") != tokens.bearer("ben", "orders:read")


def test_a_stack_that_was_never_up_is_told_with_its_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_STATE_DIR", str(tmp_path))
    told = CliRunner().invoke(cli, ["token", "--sub", "ann", "--scopes", "orders:read"])
    assert told.exit_code == 1
    assert "never up" in told.stderr
    assert "make up" in told.stderr


def test_a_key_that_is_not_published_is_told(suite: Suite) -> None:
    (suite.secrets / "jwks.json").write_text('{"keys": []}')
    with pytest.raises(NoSigningKey, match="does not publish the key"):
        Tokens(suite.secrets)


def test_the_token_command_prints_the_token_alone(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_STATE_DIR", str(suite.state_dir))
    told = CliRunner().invoke(cli, ["token", "--sub", "ann", "--scopes", "orders:read"])
    assert told.exit_code == 0
    assert jwt.decode(told.stdout.strip(), options={"verify_signature": False})["sub"] == "ann"
