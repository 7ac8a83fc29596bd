"""Failures on demand: rules that the next matching calls meet, and the calls that such a rule holds.

Rules and held calls live in memory: a restarted double behaves well.
"""

import asyncio
import itertools
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from provider_double.calls import Answer, Call, encode

Operation = Literal[
    "*",
    "payment_intents.create",
    "payment_intents.retrieve",
    "payment_intents.list",
    "payment_intents.search",
    "payment_intents.confirm",
    "payment_intents.cancel",
    "refunds.create",
    "refunds.retrieve",
    "refunds.list",
]


class FaultRule(BaseModel):
    """What happens to the next `times` calls of `operation` that match every given filter.

    At `point`, before or after the effect is applied, the call waits `delay_seconds`, then, with `hold`, until it is
    released. Then comes the `outcome`: `answer` goes on as if nothing had been, `status` answers with an error object
    of that status, `drop` closes the connection without an answer. A `status` that is `stored` becomes the answer of
    the idempotency key; one that is not stands for a failing gateway, and the key keeps the true answer, if any.
    """

    model_config = ConfigDict(extra="forbid")

    operation: Operation
    times: int = Field(default=1, ge=1, le=1_000_000)
    point: Literal["before", "after"] = "before"
    delay_seconds: float = Field(default=0, ge=0, le=3600)
    hold: bool = False
    outcome: Literal["answer", "status", "drop"] = "answer"
    status: int = Field(default=500, ge=400, le=599)
    type: str = "api_error"
    code: str | None = None
    message: str = "An unknown error occurred."
    stored: bool = True
    intent: str | None = None
    payment_id: str | None = None
    order_id: str | None = None
    idempotency_key: str | None = None

    @property
    def waits(self) -> bool:
        return self.hold or self.delay_seconds > 0

    def matches(self, call: Call) -> bool:
        return self.operation in {"*", call.operation} and all(
            wanted is None or wanted == found
            for wanted, found in (
                (self.intent, call.intent),
                (self.payment_id, call.payment_id),
                (self.order_id, call.order_id),
                (self.idempotency_key, call.idempotency_key),
            )
        )

    def answer(self) -> Answer:
        error = {"type": self.type, "message": self.message}
        if self.code is not None:
            error["code"] = self.code
        # The real API asks clients not to repeat a call whose failure it has stored: they would get it again.
        headers = {"Stripe-Should-Retry": "false"} if self.stored and self.status >= 500 else {}
        return Answer(self.status, encode({"error": error}), self.code or self.type, headers=headers)


class ActiveRule(FaultRule):
    """A rule with its identity; `times` counts down."""

    id: int


@dataclass(slots=True)
class HeldCall:
    id: int
    rule: int
    point: str
    call: Call
    released: asyncio.Future[bool]


class Faults:
    """The active rules in the order they were given; a call meets the first that matches."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._rules: list[ActiveRule] = []
        self._held: dict[int, HeldCall] = {}

    def add(self, rule: FaultRule) -> ActiveRule:
        active = ActiveRule(id=next(self._ids), **rule.model_dump())
        self._rules.append(active)
        return active

    def rules(self) -> list[ActiveRule]:
        return list(self._rules)

    def take(self, call: Call) -> ActiveRule | None:
        """The rule that this call meets, counted down."""
        for rule in self._rules:
            if rule.matches(call):
                rule.times -= 1
                if rule.times == 0:
                    self._rules.remove(rule)
                return rule
        return None

    async def wait(self, rule: ActiveRule, call: Call) -> bool:
        """Return True when the call may go on, False when it is given up (reset or shutdown)."""
        held = HeldCall(next(self._ids), rule.id, rule.point, call, asyncio.get_running_loop().create_future())
        self._held[held.id] = held
        try:
            # Not asyncio.timeout: that would cancel the future, and with it the release of a held call.
            done, _ = await asyncio.wait([held.released], timeout=rule.delay_seconds)
            return await held.released if done or rule.hold else True
        finally:
            del self._held[held.id]

    def held(self) -> list[HeldCall]:
        return list(self._held.values())

    def release(self, held: HeldCall) -> None:
        if not held.released.done():
            held.released.set_result(True)

    def clear_rules(self) -> None:
        self._rules.clear()

    def abandon(self) -> None:
        """Drop all rules and give up every call that waits."""
        self.clear_rules()
        for held in self._held.values():
            if not held.released.done():
                held.released.set_result(False)
