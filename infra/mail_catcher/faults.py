"""Failures on demand: rules that the next deliveries meet. They live in memory: a restarted catcher behaves well."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class FaultRule(BaseModel):
    """What happens to the next `times` mails, for a `recipient` if one is given.

    `refuse`: not stored, answered with `reply`. `drop`: not stored, the connection is closed without an answer.
    `store_and_drop`: stored, then closed without an answer, so that the sender cannot know.
    """

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["refuse", "drop", "store_and_drop"]
    times: int = Field(default=1, ge=1, le=1_000_000)
    recipient: str | None = None
    reply: str = Field(default="451 4.3.0 Temporary failure, on demand", pattern=r"^[45]\d\d [ -~]+$")


class Faults:
    """The active rules in the order they were given; a mail meets the first that matches."""

    def __init__(self) -> None:
        self._rules: list[FaultRule] = []

    def add(self, rule: FaultRule) -> None:
        self._rules.append(rule)

    def rules(self) -> list[FaultRule]:
        return list(self._rules)

    def clear(self) -> None:
        self._rules.clear()

    def take(self, recipients: list[str]) -> FaultRule | None:
        """The rule that a mail to these recipients meets, counted down."""
        for rule in self._rules:
            if rule.recipient is None or rule.recipient in recipients:
                rule.times -= 1
                if rule.times == 0:
                    self._rules.remove(rule)
                return rule
        return None
