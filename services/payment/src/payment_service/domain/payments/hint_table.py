"""What the provider told, by the id of its event: the second time is no news."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, func, text
from sqlalchemy.dialects.postgresql import insert

from service_platform.database import Transaction

from .provider import Hint
from .tables import provider_events


class HintTable:
    """Remembers events for as long as the provider may send them again."""

    async def insert(self, hint: Hint, tx: Transaction) -> bool:
        """Whether this is the first time that the event came. A second one at the same time waits for the first."""
        values = {"event_id": hint.event_id, "type": hint.type, "intent_id": hint.intent_id}
        statement = insert(provider_events).values(**values).on_conflict_do_nothing().returning(text("true"))
        return (await tx.session.execute(statement)).first() is not None

    async def forget(self, older_than: timedelta, tx: Transaction) -> None:
        """Delete what came longer ago. A webhook that old is refused by its signature's time."""
        await tx.session.execute(
            delete(provider_events).where(provider_events.c.received_at < func.platform_now() - older_than)
        )
