"""Comparing the provider's ledger with the tables. Finds only: what differs is mended by the checks that it enqueues.

It lists and never searches: search lags behind, and nothing may rest on it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.sql import func

from service_platform.database import Database
from service_platform.telemetry import get_logger

from .check_service import agrees, contradiction
from .commands import Reconcile
from .hint_table import HintTable
from .job_kinds import enqueue_cancel_orphan, enqueue_check_intent
from .log_events import PaymentsLogEvent
from .models import Intent, IntentStatus, Payment, outcome_of
from .payment_table import PaymentTable
from .provider import CardProvider
from .reading import (
    intents_of_waiting_refunds,
    intents_stored_between,
    intents_to_look_at,
    payments_of_intents,
    refunds_by_reference,
)
from .refund_models import ProviderRefund
from .transitions import note

_log = get_logger()

TOO_LONG: Final = timedelta(hours=1)
"""A payment or refund that has waited this long for its answer is looked at, whatever its own job does."""

GIVEN_UP_AFTER: Final = timedelta(hours=48)
"""By then every job of a payment has used its claims up and every refund without an answer needs review."""

HINTS_KEPT: Final = timedelta(days=30)
"""The provider sends an event again for three days."""

_AT_MOST: Final = 1000
_CLOCKS_DIFFER_BY: Final = timedelta(minutes=15)


class ReconcileService:
    """Three comparisons, each a step of one job. Each repeats harmlessly: a check finds nothing to do twice."""

    def __init__(
        self,
        database: Database,
        payments: PaymentTable,
        hints: HintTable,
        provider: CardProvider,
    ) -> None:
        self._database = database
        self._payments = payments
        self._hints = hints
        self._provider = provider

    async def compare_intents(self, command: Reconcile) -> None:
        """Orphans are to be cancelled, contradictions and unheard answers checked, missing intents looked for."""
        now = await self._now()
        since = now - timedelta(hours=command.lookback_hours)
        listed: set[str] = set()
        after: str | None = None
        while True:
            page = await self._provider.list_intents(since, after)
            listed.update(intent.id for intent in page.items)
            await self._compare_page(page.items, command)
            if page.after is None:
                break
            after = page.after
        async with self._database.read() as session:
            stored = await intents_stored_between(
                session, since=since + _CLOCKS_DIFFER_BY, until=now - _CLOCKS_DIFFER_BY
            )
        missing = [intent_id for intent_id in stored if intent_id not in listed]
        await self._have_checked(missing, command)
        _log.info(PaymentsLogEvent.RECONCILED, intents=len(listed), missing=len(missing))

    async def _compare_page(self, intents: Sequence[Intent], command: Reconcile) -> None:
        async with self._database.read() as session:
            rows = await payments_of_intents(
                [intent.id for intent in intents],
                [intent.payment_id for intent in intents if intent.payment_id is not None],
                session,
            )
        storing = {row.intent_id: row for row in rows if row.intent_id is not None}
        by_id = {row.id: row for row in rows}
        orphans, differing = [], []
        for intent in intents:
            if intent.id in storing:
                if _differs(storing[intent.id], intent):
                    differing.append(intent.id)
            elif intent.payment_id is not None and intent.status is not IntentStatus.CANCELLED:
                made_for = by_id.get(intent.payment_id)
                if made_for is None:
                    # Of another installation, or our database was restored: a person knows.
                    _log.warning(
                        PaymentsLogEvent.ORPHAN_WITHOUT_PAYMENT,
                        intent_id=intent.id,
                        payment_id=str(intent.payment_id),
                        status=intent.status.value,
                    )
                elif made_for.can_never_store(intent.id):
                    orphans.append(intent.id)
        async with self._database.transaction(claim=command.fence) as tx:
            for orphan in orphans:
                await enqueue_cancel_orphan(orphan, tx, because=f"{command.run}:{orphan}")
        await self._have_checked(differing, command)

    async def compare_refunds(self, command: Reconcile) -> None:
        """Refunds of which our row says otherwise than the provider, and such that have no row, are checked."""
        since = await self._now() - timedelta(hours=command.lookback_hours)
        after: str | None = None
        while True:
            page = await self._provider.list_refunds(since=since, after=after)
            await self._have_checked(await self._disagreeing(page.items), command)
            if page.after is None:
                return
            after = page.after

    async def _disagreeing(self, listed: Sequence[ProviderRefund]) -> set[str]:
        async with self._database.read() as session:
            known = await refunds_by_reference([found.reference for found in listed], session)
        differing = set()
        for found in listed:
            row = known.get(found.reference)
            if found.intent_id is not None and (row is None or not agrees(row, found)):
                differing.add(found.intent_id)
        return differing

    async def look_at_waiting(self, command: Reconcile) -> None:
        """What has waited too long for an answer is checked; what nobody will answer any more needs review."""
        async with self._database.read() as session:
            overdue = await intents_to_look_at(session, open_for=TOO_LONG, at_most=_AT_MOST)
            waiting = await intents_of_waiting_refunds(session, longer_than=TOO_LONG, at_most=_AT_MOST)
        await self._have_checked({*overdue, *waiting}, command)
        async with self._database.transaction(claim=command.fence) as tx:
            given_up = await self._payments.give_up(GIVEN_UP_AFTER, "open_too_long", tx)
            await self._hints.forget(HINTS_KEPT, tx)
        for payment in given_up:
            note(payment)

    async def _have_checked(self, intent_ids: Collection[str], command: Reconcile) -> None:
        """One check an intent and reconcile, however many reasons there are for it."""
        async with self._database.transaction(claim=command.fence) as tx:
            for intent_id in sorted(intent_ids):
                await enqueue_check_intent(intent_id, tx, because=f"{command.run}:{intent_id}")

    async def _now(self) -> datetime:
        async with self._database.read() as session:
            now: datetime = (await session.execute(select(func.platform_now()))).scalar_one()
        return now


def _differs(payment: Payment, intent: Intent) -> bool:
    """Whether a check would change anything."""
    if contradiction(payment, intent) is not None:
        return True
    return payment.undecided and outcome_of(payment, intent) is not None
