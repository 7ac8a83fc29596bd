"""`python -m topics`: make the declared topics on the broker at KAFKA_BOOTSTRAP_SERVERS."""

from __future__ import annotations

import os
import sys

from tenacity import RetryCallState, retry, stop_after_delay, wait_fixed

from . import TopicsRefused, create_topics

_PATIENCE_SECONDS = 60.0  # a broker that listens is not always one that answers yet


def _tell(attempt: RetryCallState) -> None:
    print(f"not yet: {attempt.outcome and attempt.outcome.exception()}", file=sys.stderr)


@retry(wait=wait_fixed(2), stop=stop_after_delay(_PATIENCE_SECONDS), before_sleep=_tell, reraise=True)
def _create(servers: str) -> list[str]:
    return create_topics(servers)


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
