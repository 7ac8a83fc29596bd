"""Where every call passes: idempotency, faults, the operation and the ledger, in the real API's order."""

from collections.abc import Callable
from typing import Any

from provider_double.adjustments import Adjustments
from provider_double.calls import Answer, Call
from provider_double.errors import IdempotencyKeyInUseError, IdempotencyMismatchError, ProviderError
from provider_double.faults import ActiveRule, Faults
from provider_double.idempotency import StoredAnswers
from provider_double.ledger import Ledger
from provider_double.store import Store

Operation = Callable[[Call], dict[str, Any]]


class Desk:
    """Effect, events, stored answer and ledger rows of one call are one transaction."""

    def __init__(self, store: Store, adjustments: Adjustments, ledger: Ledger, faults: Faults) -> None:
        self._store = store
        self._adjustments = adjustments
        self._ledger = ledger
        self._faults = faults
        self._answers = StoredAnswers(store)
        # Keys of calls under way. In memory: a crash ends those calls, and frees their keys.
        self._in_flight: set[str] = set()

    async def handle(self, call: Call, operation: Operation) -> Answer | None:
        """The answer for the client, or None when the connection is to be dropped without one."""
        self._ledger.identify(call)
        key = call.idempotency_key
        if key is not None and key in self._in_flight:
            return self._refuse_key_in_use(call)
        rule = self._faults.take(call)
        if key is not None:
            self._in_flight.add(key)
        try:
            if rule is not None and rule.point == "before" and not await self._may_run(rule, call):
                return None
            answer = self._execute(call, operation, rule)
        finally:
            if key is not None:
                self._in_flight.discard(key)
        if rule is not None and rule.point == "after":
            if rule.waits and not await self._faults.wait(rule, call):
                return None
            if rule.outcome == "drop":
                return None
        return answer

    async def _may_run(self, rule: ActiveRule, call: Call) -> bool:
        """Meet a rule that comes before the effect; the ledger shows the call while it waits."""
        if rule.waits:
            with self._store.transaction():
                self._ledger.arrived(call, self._adjustments.now())
            going_on = await self._faults.wait(rule, call)
        else:
            going_on = True
        if going_on and rule.outcome != "drop":
            return True
        with self._store.transaction():
            if call.seq == 0:
                self._ledger.arrived(call, self._adjustments.now())
            self._ledger.ended(call, "dropped")
        return False

    def _refuse_key_in_use(self, call: Call) -> Answer:
        answer = Answer.refusal(
            IdempotencyKeyInUseError(
                "There is currently another in-progress request using this Idempotent Key (that probably means you"
                f" submitted twice, and the other request is still going through): {call.idempotency_key}. Please try"
                " again later.",
                code="idempotency_key_in_use",
            )
        )
        with self._store.transaction():
            self._ledger.arrived(call, self._adjustments.now())
            self._ledger.ended(call, "answered", answer)
        return answer

    def _execute(self, call: Call, operation: Operation, rule: ActiveRule | None) -> Answer:
        with self._store.transaction():
            now = self._adjustments.now()
            if call.seq == 0:
                self._ledger.arrived(call, now)
            answer = self._decide(call, operation, rule, now)
            answer_lost = rule is not None and rule.point == "after" and rule.outcome == "drop"
            self._ledger.ended(call, "answer_dropped" if answer_lost else "answered", answer)
            return answer

    def _decide(self, call: Call, operation: Operation, rule: ActiveRule | None, now: float) -> Answer:
        injected = rule if rule is not None and rule.outcome == "status" else None
        if call.idempotency_key is not None:
            try:
                replay = self._answers.find(call, now)
            except IdempotencyMismatchError as error:
                return Answer.refusal(error)
            if replay is not None:
                # A failing gateway stands before the stored answers; a failing endpoint is not reached by a replay.
                return injected.answer() if injected is not None and not injected.stored else replay
        if injected is not None and injected.point == "before":
            answer, keep = injected.answer(), injected.stored
            true_answer = answer
        else:
            true_answer, keep = self._run(call, operation)
            answer = injected.answer() if injected is not None else true_answer
            if injected is not None and injected.stored:
                true_answer, keep = answer, True
        if keep and call.idempotency_key is not None:
            self._answers.keep(call, true_answer, now)
        return answer

    def _run(self, call: Call, operation: Operation) -> tuple[Answer, bool]:
        """The operation's true answer, and whether a repeat with the same key is to get it again."""
        try:
            return Answer.of(operation(call)), True
        except ProviderError as error:
            return Answer.refusal(error), error.stored
