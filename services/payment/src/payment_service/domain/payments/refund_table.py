"""Refunds as rows. Every arrow of a refund's states is one compare-and-set statement here, and nowhere else.

A trigger adds each row up on its payment's row, where a CHECK keeps what is reserved and done within what was captured.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, RowMapping, and_, case, func, literal, null, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .refund_models import ProviderRefund, Refund, RefundReason, RefundStatus
from .tables import refunds

KEYS_FORGOTTEN_AFTER: Final = timedelta(hours=24)
"""After this the provider would take a key that it knew for a new one, and give the money back a second time."""

NO_ANSWER: Final = "no_answer_for_a_day"
FAILED_AFTER_DONE: Final = "failed_after_it_was_done"

_RESERVED: Final = refunds.c.status == RefundStatus.RESERVED
_UNDECIDED: Final = refunds.c.status.in_([RefundStatus.RESERVED, RefundStatus.NEEDS_REVIEW])


class RefundTable:
    """The transitions. A transition that finds another state than it needs changes nothing."""

    async def reserve(self, payment_id: UUID, amount_minor: int, reason: RefundReason, tx: Transaction) -> Refund:
        """A new refund. The caller has the payment's row locked and knows that so much is left of it."""
        values = {"id": uuid4(), "payment_id": payment_id, "amount_minor": amount_minor, "reason": reason}
        statement = insert(refunds).values(**values, status=RefundStatus.RESERVED).returning(refunds)
        return Refund(**(await tx.session.execute(statement)).mappings().one())

    async def adopt(self, payment_id: UUID, found: ProviderRefund, tx: Transaction) -> Refund | None:
        """A refund that the provider has and nobody here made, for a person to look at; None where it is known."""
        statement = (
            insert(refunds)
            .values(
                id=uuid4(),
                payment_id=payment_id,
                amount_minor=found.amount_minor,
                reason=RefundReason.MADE_AT_PROVIDER,
                status=RefundStatus.NEEDS_REVIEW,
                provider_reference=found.reference,
                detail="made_at_provider",
            )
            .on_conflict_do_nothing(index_elements=[refunds.c.provider_reference])
            .returning(refunds)
        )
        return _one((await tx.session.execute(statement)).mappings().one_or_none())

    async def take_key(self, refund_id: UUID, run_key: str, tx: Transaction) -> Refund | None:
        """Make `run_key` the one key of this refund, unless it has one: the refund with the key to send.

        A refund whose key has had no answer for as long as the provider keeps keys comes back as `needs_review`: the
        key must not be sent any more. None where the refund is concluded.
        """
        forgotten = and_(
            refunds.c.run_key_at <= func.platform_now() - KEYS_FORGOTTEN_AFTER, refunds.c.provider_reference.is_(None)
        )
        return await self._move(
            tx,
            refund_id,
            _RESERVED,
            run_key=func.coalesce(refunds.c.run_key, run_key),
            run_key_at=func.coalesce(refunds.c.run_key_at, func.platform_now()),
            status=case((forgotten, literal(RefundStatus.NEEDS_REVIEW, refunds.c.status.type)), else_=refunds.c.status),
            detail=case((forgotten, literal(NO_ANSWER)), else_=null()),
        )

    async def drop_key(self, refund_id: UUID, run_key: str, tx: Transaction) -> Refund | None:
        """Let the next run take a key of its own, where `run_key` is the one that is stored."""
        expected = and_(_RESERVED, refunds.c.run_key == run_key, refunds.c.provider_reference.is_(None))
        return await self._move(tx, refund_id, expected, run_key=None, run_key_at=None)

    async def keep_reference(self, refund_id: UUID, reference: str, tx: Transaction) -> None:
        """The provider took it on, and has not finished it."""
        await self._move(tx, refund_id, _RESERVED, provider_reference=reference)

    async def done(self, refund_id: UUID, reference: str, tx: Transaction) -> Refund | None:
        """reserved | needs_review → done, by the provider's final answer. None where that was known before.

        A refund is done once: one that failed after it was done is a person's, whatever becomes of it.
        """
        return await self._move(
            tx,
            refund_id,
            and_(_UNDECIDED, refunds.c.detail.is_distinct_from(FAILED_AFTER_DONE)),
            status=RefundStatus.DONE,
            provider_reference=reference,
            detail=None,
            concluded_at=func.platform_now(),
        )

    async def fail(self, refund_id: UUID, detail: str, tx: Transaction) -> Refund | None:
        """reserved → failed, by the provider's final answer: what it reserved is free again."""
        values = {"status": RefundStatus.FAILED, "detail": detail, "concluded_at": func.platform_now()}
        return await self._move(tx, refund_id, _RESERVED, **values)

    async def put_under_review(
        self, refund_id: UUID, detail: str, tx: Transaction, *, expected: RefundStatus = RefundStatus.RESERVED
    ) -> Refund | None:
        """`expected` → needs_review; what it reserved or gave back stays counted."""
        values = {"status": RefundStatus.NEEDS_REVIEW, "detail": detail, "concluded_at": None}
        return await self._move(tx, refund_id, refunds.c.status == expected, **values)

    async def give_up_unanswered(self, payment_id: UUID, tx: Transaction) -> Sequence[Refund]:
        """reserved → needs_review for those of the payment that had no answer for as long as keys are kept."""
        since = func.coalesce(refunds.c.run_key_at, refunds.c.created_at)
        statement = (
            update(refunds)
            .where(
                refunds.c.payment_id == payment_id,
                _RESERVED,
                refunds.c.provider_reference.is_(None),
                since <= func.platform_now() - KEYS_FORGOTTEN_AFTER,
            )
            .values(status=RefundStatus.NEEDS_REVIEW, detail=NO_ANSWER)
            .returning(refunds)
        )
        return [Refund(**row) for row in (await tx.session.execute(statement)).mappings()]

    async def resolve(
        self, seen: Refund, *, status: RefundStatus, reference: str | None, detail: str | None, tx: Transaction
    ) -> Refund | None:
        """needs_review → done | failed, as a person decided by the refund as it was `seen`.

        Where anything of that is another by now, nothing changes and None comes back.
        """
        unchanged = and_(
            refunds.c.status == RefundStatus.NEEDS_REVIEW,
            refunds.c.detail == seen.detail,
            refunds.c.run_key.is_not_distinct_from(seen.run_key),
            refunds.c.provider_reference.is_not_distinct_from(seen.provider_reference),
        )
        return await self._move(
            tx,
            seen.id,
            unchanged,
            status=status,
            provider_reference=reference,
            detail=detail,
            concluded_at=func.platform_now(),
        )

    async def find(self, refund_id: UUID, session: AsyncSession) -> Refund | None:
        """The refund as `session` sees it, unlocked."""
        statement = select(refunds).where(refunds.c.id == refund_id)
        return _one((await session.execute(statement)).mappings().one_or_none())

    async def _move(
        self, tx: Transaction, refund_id: UUID, expected: ColumnElement[bool], **values: Any
    ) -> Refund | None:
        statement = update(refunds).where(refunds.c.id == refund_id, expected).values(**values).returning(refunds)
        return _one((await tx.session.execute(statement)).mappings().one_or_none())


def _one(row: RowMapping | None) -> Refund | None:
    return Refund(**row) if row is not None else None
