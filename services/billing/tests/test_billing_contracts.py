"""What billing publishes is what its contract says, and what it reads lies within those of the others."""

from __future__ import annotations

from pathlib import Path

from service_platform.contracts import Base, breaches

# Where this service was copied out alone, this folder has the copies that it was built against.
CONTRACTS = Path(__file__).resolve().parents[3] / "contracts"


def test_billing_keeps_to_the_contracts() -> None:
    found = breaches("billing", CONTRACTS, Base({}, "nothing"))
    assert not found, "\n".join(map(str, found))
