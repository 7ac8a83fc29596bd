"""A card provider of captures in memory, with a ledger; each call has boundaries where a run can be disturbed."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from payment_service.domain.payments import (
    CardDeclined,
    Intent,
    IntentRequest,
    IntentStateConflict,
    IntentStatus,
)
from service_platform.database import forbid_in_transaction
from service_platform.jobs import RunKey
from world.crashing import reach


@dataclass
class KnownIntent:
    id: str
    request: IntentRequest
    status: IntentStatus = IntentStatus.UNCONFIRMED
    decline_reason: str | None = None

    def shown(self) -> Intent:
        captured = self.request.amount_minor if self.status is IntentStatus.SUCCEEDED else 0
        return Intent(
            id=self.id,
            status=self.status,
            captured_minor=captured,
            currency=self.request.currency,
            decline_reason=self.decline_reason,
        )


class InMemoryProvider:
    """A card provider with a ledger. The first `declines` confirmations are declined, later ones succeed."""

    def __init__(self, *, declines: int = 0) -> None:
        self.declines = declines
        self.intents: dict[str, KnownIntent] = {}
        self.captures: list[str] = []
        self.calls: list[tuple[str, str]] = []
        self.raises: dict[str, Exception] = {}

    async def create_intent(self, request: IntentRequest, key: RunKey) -> Intent:
        await self._arrive("create", str(key))
        intent = KnownIntent(f"pi_{uuid4().hex}", request)
        self.intents[intent.id] = intent
        await reach("create answered")
        return intent.shown()

    async def confirm_intent(self, intent_id: str, key: RunKey) -> Intent:
        await self._arrive("confirm", str(key))
        intent = self.intents[intent_id]
        if intent.status not in {IntentStatus.UNCONFIRMED, IntentStatus.DECLINED}:
            raise IntentStateConflict(intent.status)
        if self.declines > 0:
            self.declines -= 1
            intent.status, intent.decline_reason = IntentStatus.DECLINED, "insufficient_funds"
            await reach("decline answered")
            raise CardDeclined("insufficient_funds")
        intent.status = IntentStatus.SUCCEEDED
        self.captures.append(intent_id)
        await reach("confirm answered")
        return intent.shown()

    async def cancel_intent(self, intent_id: str, key: RunKey) -> Intent:
        await self._arrive("cancel", str(key))
        intent = self.intents[intent_id]
        if intent.status not in {IntentStatus.UNCONFIRMED, IntentStatus.DECLINED}:
            raise IntentStateConflict(intent.status)
        intent.status = IntentStatus.CANCELLED
        await reach("cancel answered")
        return intent.shown()

    async def retrieve_intent(self, intent_id: str) -> Intent:
        await self._arrive("retrieve", "")
        return self.intents[intent_id].shown()

    async def _arrive(self, operation: str, key: str) -> None:
        forbid_in_transaction(operation)
        await reach(f"{operation} sent")
        self.calls.append((operation, key))
        if operation in self.raises:
            raise self.raises[operation]
