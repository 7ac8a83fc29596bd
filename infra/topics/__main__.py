"""`python -m topics`: make the declared topics on the broker at KAFKA_BOOTSTRAP_SERVERS.

KAFKA_SECURITY_PROTOCOL, KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD or KAFKA_SASL_PASSWORD_FILE, and
KAFKA_CA_FILE mean what they mean to a service.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tenacity import RetryCallState, retry, stop_after_delay, wait_fixed

from . import TopicsRefused, create_topics

_PATIENCE_SECONDS = 60.0  # a broker that listens is not always one that answers yet


def _tell(attempt: RetryCallState) -> None:
    print(f"not yet: {attempt.outcome and attempt.outcome.exception()}", file=sys.stderr)


@retry(wait=wait_fixed(2), stop=stop_after_delay(_PATIENCE_SECONDS), before_sleep=_tell, reraise=True)
def _create(servers: str) -> list[str]:
    return create_topics(servers, security=kafka_security(os.environ))


def kafka_security(environment: Mapping[str, str]) -> dict[str, str]:
    """What `environment` says of TLS and credentials, in the client's words."""
    password = environment.get("KAFKA_SASL_PASSWORD", "")
    if file := environment.get("KAFKA_SASL_PASSWORD_FILE"):
        password = Path(file).read_text(encoding="utf-8").strip()
    username = environment.get("KAFKA_SASL_USERNAME", "")
    told = {
        "security.protocol": environment.get("KAFKA_SECURITY_PROTOCOL", ""),
        "sasl.mechanisms": environment.get("KAFKA_SASL_MECHANISM", "SCRAM-SHA-512") if username else "",
        "sasl.username": username,
        "sasl.password": password,
        "ssl.ca.location": environment.get("KAFKA_CA_FILE", ""),
    }
    return {name: value for name, value in told.items() if value}


def main() -> None:
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not servers:
        sys.exit("Set KAFKA_BOOTSTRAP_SERVERS to the broker's address, like kafka:9092.")
    try:
        made = _create(servers)
    except TopicsRefused as refused:
        sys.exit(f"{refused}\n{refused.mend}")
    print(f"topics made: {', '.join(made)}" if made else "all topics are there")


if __name__ == "__main__":
    main()
