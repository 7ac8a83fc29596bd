"""The SQL functions of the job table: who may claim and settle, one job a key, and that nothing else can write it."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import asyncpg
import pytest
from jobs_lab import QUICK, Owner, Script, enqueue, hints, shift_clock
from pydantic import BaseModel, ConfigDict
from sqlalchemy import text

from service_platform.database import Database
from service_platform.jobs import JobKind, UnstorableJob
from service_platform.jobs.statements import ClaimRow, JobStatements
from world.waiting import eventually


@pytest.fixture
def statements(database: Database) -> JobStatements:
    return JobStatements(database)


async def claim(statements: JobStatements, job_id: UUID, *, max_claims: int = 3, kind: str = QUICK.name) -> ClaimRow:
    row = await statements.claim(
        job_id, kind=kind, claimed_by="me", lease_seconds=30, max_claims=max_claims, max_silent_runs=3
    )
    assert row is not None, "the claim matched nothing"
    return row


async def refused(statements: JobStatements, job_id: UUID, *, kind: str = QUICK.name) -> bool:
    return (
        await statements.claim(job_id, kind=kind, claimed_by="me", lease_seconds=30, max_claims=3, max_silent_runs=3)
        is None
    )


async def status(owner: Owner, job_id: UUID) -> str:
    found: str = await owner.fetchval("SELECT status FROM job WHERE id = $1", job_id)
    return found


async def test_each_claim_returns_the_previous_token_plus_one(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")

    tokens = []
    for take_over in range(3):
        await shift_clock(owner, take_over * 31)
        tokens.append((await claim(statements, job_id)).token)

    assert tokens == [1, 2, 3]


async def test_a_live_job_a_finished_one_a_purged_one_and_one_of_another_kind_match_nothing(
    database: Database, statements: JobStatements
) -> None:
    job_id = await enqueue(database, Script(), "a")

    assert await refused(statements, job_id, kind="lab.other")
    token = (await claim(statements, job_id)).token
    assert await refused(statements, job_id), "another run is alive"
    assert await statements.complete(job_id, expected_token=token)
    assert await refused(statements, job_id), "it is done"
    assert await refused(statements, uuid4()), "there is no such job, and a claim makes none"


async def test_at_the_limit_of_claims_a_job_dies_in_the_claim_and_its_stalled_run_is_fenced_out(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    stalled = await claim(statements, job_id, max_claims=1)
    await shift_clock(owner, 31)

    last = await claim(statements, job_id, max_claims=1)

    assert last.status == "dead"
    assert last.claims == 1
    assert await status(owner, job_id) == "dead"
    assert "ended without a word" in await owner.fetchval("SELECT error FROM job")
    assert not await statements.complete(job_id, expected_token=stalled.token)
    assert await refused(statements, job_id)


async def test_a_failed_job_waits_for_its_time_and_is_dead_once_its_claims_are_used_up(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    first = await claim(statements, job_id, max_claims=2)

    failed = await statements.fail(job_id, expected_token=first.token, error="no", retry_in_seconds=10, max_claims=2)
    assert failed == "failed"
    assert await refused(statements, job_id)
    await shift_clock(owner, 11)
    second = await claim(statements, job_id, max_claims=2)
    assert (
        await statements.fail(job_id, expected_token=second.token, error="no", retry_in_seconds=0, max_claims=2)
        == "dead"
    )


async def test_a_stale_token_settles_renews_and_gives_back_nothing(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    stale = (await claim(statements, job_id)).token
    await shift_clock(owner, 31)
    current = (await claim(statements, job_id)).token
    before = await owner.fetchrow("SELECT * FROM job")

    assert not await statements.complete(job_id, expected_token=stale)
    assert not await statements.release(job_id, expected_token=stale)
    assert await statements.fail(job_id, expected_token=stale, error="no", retry_in_seconds=0, max_claims=9) is None
    assert not await owner.fetchval("SELECT job_renew($1, $2, 30)", job_id, stale)
    assert not await owner.fetchval("SELECT job_advance($1, 'step', $2, 30)", job_id, stale)

    assert await owner.fetchrow("SELECT * FROM job") == before
    assert await statements.complete(job_id, expected_token=current)


async def test_of_a_completion_and_a_take_over_at_once_exactly_one_matches(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    ids = [await enqueue(database, Script(), f"job {number}") for number in range(30)]
    for job_id in ids:
        await claim(statements, job_id)
    await shift_clock(owner, 31)

    async def race(job_id: UUID) -> tuple[bool, bool]:
        completed, taken = await asyncio.gather(
            statements.complete(job_id, expected_token=1),
            statements.claim(
                job_id, kind=QUICK.name, claimed_by="me", lease_seconds=30, max_claims=3, max_silent_runs=3
            ),
        )
        return completed, taken is not None

    outcomes = await asyncio.gather(*(race(job_id) for job_id in ids))

    assert all(completed != taken for completed, taken in outcomes), outcomes
    states = {row["id"]: row["status"] for row in await owner.fetch("SELECT id, status FROM job")}
    assert [states[job_id] for job_id in ids] == ["done" if done else "running" for done, _ in outcomes]


async def test_a_claim_given_back_is_not_counted_and_the_job_is_there_for_anyone(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    for _ in range(5):
        token = (await claim(statements, job_id, max_claims=1)).token
        assert await statements.release(job_id, expected_token=token) == "pending"

    assert await owner.fetchval("SELECT claims FROM job") == 0
    assert (await claim(statements, job_id)).token == 6


async def test_a_key_has_one_job_and_a_second_enqueue_returns_it(database: Database, owner: Owner) -> None:
    first = await enqueue(database, Script(), "a")
    second = await enqueue(database, Script(seconds=9), "a")

    assert second == first
    assert await owner.fetchval("SELECT count(*) FROM job") == 1
    assert await hints(owner, first) == 1


@pytest.mark.parametrize("first_commits", [True, False])
async def test_an_enqueue_that_waits_for_anothers_key_makes_the_job_when_that_one_rolls_back(
    database: Database, owner: Owner, first_commits: bool
) -> None:
    inserted, decide = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with database.transaction() as tx:
            await QUICK.enqueue(Script(), tx, key="a")
            inserted.set()
            await decide.wait()
            if not first_commits:
                raise RuntimeError("rolled back on purpose")

    async def second() -> UUID:
        await inserted.wait()
        return await enqueue(database, Script(), "a")

    async def decides() -> None:
        await inserted.wait()
        await eventually(lambda: _blocked(database), what="the second enqueue waits for the key")
        decide.set()

    _, job_id, waited = await asyncio.gather(first(), second(), decides(), return_exceptions=True)

    assert waited is None, "the second enqueue did not wait for the first one's key"

    assert isinstance(job_id, UUID)
    assert await owner.fetchval("SELECT id FROM job WHERE job_key = 'a'") == job_id
    assert await hints(owner, job_id) == 1


async def _blocked(database: Database) -> int:
    blocked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with database.read() as session:
        return int(await session.scalar(text(blocked)) or 0)


async def test_a_job_and_its_hint_exist_exactly_when_the_transaction_commits(database: Database, owner: Owner) -> None:
    async def rolled_back() -> None:
        async with database.transaction() as tx:
            await QUICK.enqueue(Script(), tx, key="a")
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError):
        await rolled_back()

    assert await owner.fetchval("SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM outbox)") == 0


class Named(BaseModel):
    model_config = ConfigDict(frozen=True)
    name: str


async def test_what_the_database_cannot_hold_is_refused_at_enqueue(database: Database) -> None:
    kind = JobKind(name="lab.named", payload=Named)
    async with database.transaction() as tx:
        for name, key in (("a\0b", "key"), ("a\\\0", "key"), ("a", "k\0y"), ("a", ""), ("a", "k" * 256)):
            with pytest.raises(UnstorableJob):
                await kind.enqueue(Named(name=name), tx, key=key)
        await kind.enqueue(Named(name=r"a\u0000"), tx, key="a backslash and five letters are fine")


async def test_the_app_role_cannot_write_the_table_but_through_the_functions(
    database: Database, app_address: object, owner: Owner
) -> None:
    await enqueue(database, Script(), "a")
    attempts = (
        "INSERT INTO job SELECT gen_random_uuid(), kind, 'b', status FROM job",
        "UPDATE job SET token = token + 1",
        "DELETE FROM job",
        "TRUNCATE job",
        "SELECT * FROM job FOR UPDATE",
        "ALTER TABLE job DISABLE ROW LEVEL SECURITY",
        "DROP FUNCTION job_complete(uuid, bigint)",
    )
    async with database.autocommit() as driver:
        for attempt in attempts:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await driver.execute(attempt)
        assert await driver.fetchval("SELECT count(*) FROM job") == 1

    open_to_all = await owner.fetch(
        """
        SELECT p.proname FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
        WHERE p.proname LIKE 'job\\_%' AND a.grantee = 0
        """
    )
    assert open_to_all == []
    careless = await owner.fetch(
        """
        SELECT proname FROM pg_proc
        WHERE proname LIKE 'job\\_%' AND NOT (prosecdef AND 'search_path=pg_catalog, public' = ANY (proconfig))
        """
    )
    assert careless == []


async def test_a_function_that_forbids_plans_forbids_compiling_them_too(owner: Owner) -> None:
    """What is forbidden and taken all the same looks so dear that PostgreSQL compiles it, where it is built to."""
    functions = "SELECT array_to_string(proconfig, ' ') FROM pg_proc WHERE proconfig::text LIKE '%enable_%=off%'"
    settings = [of for (of,) in await owner.fetch(functions)]
    assert len(settings) > 10
    assert all("jit=off" in of for of in settings)
