"""The stand-ins behave as the real parts do where a domain service could tell."""

from datetime import timedelta
from typing import ClassVar, Literal
from uuid import UUID

import pytest

from service_platform.database import ClaimRefused, ExternalCallInTransaction, forbid_in_transaction
from service_platform.event_bus import Event, NotThisServicesEvent
from service_platform.idempotency import IdempotencyClaim
from service_platform.outbox import NulCharacter
from service_platform.testing import FakeClock, FakeDatabase, RecordingEventBus

CLAIM = IdempotencyClaim(subject="c", operation="place_order", key="k", fingerprint=b"")


class ThingMade(Event):
    event_name: ClassVar[Literal["thing.made"]] = "thing.made"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "thing"
    key_field: ClassVar[str] = "thing_id"

    thing_id: UUID
    name: str


def made(name: str = "a") -> ThingMade:
    return ThingMade.create(thing_id=UUID(int=1), name=name)


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase()


async def test_events_count_once_their_transaction_has_committed(database: FakeDatabase) -> None:
    bus = RecordingEventBus("thing")
    async with database.transaction(claim=CLAIM) as tx:
        await bus.publish(made(), tx)
        assert bus.published == []
    assert bus.published_of(ThingMade) == [made()]
    assert database.claims == [CLAIM]


async def test_events_of_a_rolled_back_transaction_were_never_published(database: FakeDatabase) -> None:
    bus = RecordingEventBus("thing")

    async def fail_after_publishing() -> None:
        async with database.transaction() as tx:
            await bus.publish(made(), tx)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await fail_after_publishing()
    assert bus.published == []
    assert (len(database.committed), len(database.rolled_back)) == (0, 1)


async def test_the_recording_bus_refuses_what_the_real_one_refuses(database: FakeDatabase) -> None:
    async with database.transaction() as tx:
        with pytest.raises(NulCharacter):
            await RecordingEventBus("thing").publish(made("a\0"), tx)
        with pytest.raises(NotThisServicesEvent):
            await RecordingEventBus("other").publish(made(), tx)


async def test_a_refused_claim_keeps_the_block_from_running(database: FakeDatabase) -> None:
    database.refusal = ClaimRefused()
    with pytest.raises(ClaimRefused):
        async with database.transaction(claim=CLAIM):
            pytest.fail("the block ran")
    async with database.transaction(claim=CLAIM) as tx:
        await CLAIM.answer(made(), tx)


async def test_transactions_do_not_nest_and_hold_no_external_call(database: FakeDatabase) -> None:
    async with database.transaction():
        with pytest.raises(ExternalCallInTransaction):
            forbid_in_transaction("send_mail")
        with pytest.raises(RuntimeError, match="already open"):
            async with database.transaction():
                pytest.fail("nested")
    forbid_in_transaction("send_mail")


async def test_sql_in_a_unit_test_is_told_apart_from_a_bug(database: FakeDatabase) -> None:
    async with database.transaction() as tx:
        with pytest.raises(AssertionError, match="stand-in"):
            await tx.session.execute("SELECT 1")
    async with database.read() as session:
        with pytest.raises(AssertionError, match="stand-in"):
            await session.execute("SELECT 1")


def test_the_clock_moves_only_forward_and_only_when_told() -> None:
    clock = FakeClock()
    before = clock()
    assert clock() == before
    assert clock.advance(timedelta(minutes=1)) == before + timedelta(minutes=1) == clock()
    with pytest.raises(ValueError, match="back"):
        clock.advance(timedelta(seconds=-1))
