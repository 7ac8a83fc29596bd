"""The processor time that a measurement takes, by who takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from .lab import Lab
from .processes import Running, tree_cpu_seconds


@dataclass(frozen=True)
class Costs:
    """Processor seconds up to an instant: of the relays, of the stores, and of the whole machine."""

    relays: float
    postgres: float
    kafka: float
    machine: float

    @classmethod
    def now(cls, lab: Lab, relays: Sequence[Running]) -> Costs:
        times = psutil.cpu_times()
        return cls(
            relays=sum(relay.cpu_seconds() for relay in relays),
            postgres=tree_cpu_seconds(lab.stack.pid("postgres")),
            kafka=tree_cpu_seconds(lab.stack.pid("kafka")),
            machine=times.user + times.nice + times.system,
        )

    def until_now(self, lab: Lab, relays: Sequence[Running]) -> dict[str, float]:
        """What was spent since, as figures; `cpu_others` is everything but relays and stores, so also noise."""
        now = Costs.now(lab, relays)
        spent = {
            "cpu_relays": now.relays - self.relays,
            "cpu_postgres": now.postgres - self.postgres,
            "cpu_kafka": now.kafka - self.kafka,
        }
        return {**spent, "cpu_others": now.machine - self.machine - sum(spent.values())}
