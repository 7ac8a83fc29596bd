"""What the tests of the stack share: it, rendered from what is committed, and a value for each of its settings."""

from __future__ import annotations

from typing import Any

import pytest

from stack import Lock, render_stack
from stack.render import HERE, LOCK

ANSWERS = {
    "PUBLIC_HOST": "shop.example.com",
    "ACME_EMAIL": "operations@example.com",
    "JWT_ISSUER": "https://id.example.com/",
    "JWT_AUDIENCE": "shop",
    "JWT_JWKS_URL": "https://id.example.com/keys.json",
    "SMTP_HOST": "mail.example.com",
    "MAIL_FROM": "Shop <billing@example.com>",
    "SELLER_NAME": "Shop",
}
"""What a person fills into settings.env.example."""


@pytest.fixture
def stack() -> dict[str, Any]:
    return render_stack(Lock.read(LOCK))


@pytest.fixture
def filled_in() -> dict[str, str]:
    """The example with an answer wherever it asks for one."""
    lines = (HERE / "settings.env.example").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return {name: value.strip('"') or ANSWERS.get(name, "") for name, value in given.items()}
