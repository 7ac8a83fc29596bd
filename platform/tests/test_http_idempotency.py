"""Idempotency-Key on a real database: one effect however often and at whatever moment the request is sent."""

import asyncio
from pathlib import Path
from typing import Annotated
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
from fastapi import APIRouter
from http_lab import NewThing, app_with, bearer, client_of
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text

from service_platform.database import Database
from service_platform.errors import Conflict
from service_platform.http import Principal, idempotency, require
from service_platform.idempotency import IdempotencyClaim, Unanswered
from service_platform.messages import Catalogue
from world.waiting import eventually

TEXTS = Catalogue({"thing-refused": {"en": "Refused", "vi": "Bị từ chối"}})


class ThingRefused(Conflict, messages=TEXTS):
    slug = "thing-refused"


class ThingView(BaseModel):
    """The answer, and what is stored for a replay."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    id: UUID
    name: str
    line_count: int = Field(alias="lineCount")


class Things:
    """A domain service that counts how often it ran and how often that took effect."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.ran = 0
        self.refusing = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def make(self, body: NewThing, claim: IdempotencyClaim) -> ThingView:
        async with self.database.transaction(claim=claim) as tx:
            self.ran += 1
            await self.gate.wait()
            await tx.session.execute(text("INSERT INTO thing (name) VALUES (:name)"), {"name": body.name})
            if self.refusing:
                raise ThingRefused
            view = ThingView(id=uuid4(), name=body.name, line_count=len(body.lines))
            await claim.answer(view, tx)
        return view


@pytest.fixture
async def things(database: Database, owner: asyncpg.Connection) -> Things:
    await owner.execute("CREATE TABLE thing (name text NOT NULL)")
    await owner.execute("GRANT SELECT, INSERT ON thing TO PUBLIC")
    return Things(database)


@pytest.fixture
async def client(things: Things, tmp_path: Path):
    router = APIRouter()

    @router.post("/things", status_code=201)
    async def make(
        _: Annotated[Principal, require("things:write")],
        claim: Annotated[IdempotencyClaim, idempotency("make_thing", location="/things/{id}")],
        body: NewThing,
    ) -> ThingView:
        return await things.make(body, claim)

    @router.post("/groups/{group}/things", status_code=202)
    async def make_in_group(
        _: Annotated[Principal, require("things:write")],
        claim: Annotated[IdempotencyClaim, idempotency("make_in_group", status=202)],
        group: str,
        body: NewThing,
    ) -> ThingView:
        return await things.make(body, claim)

    async with client_of(app_with(tmp_path, router), headers=bearer()) as client:
        yield client


async def post(
    client: httpx.AsyncClient, key: str | None, name: str = "Áo dài", path: str = "/things", **token: str
) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await client.post(path, json={"name": name}, headers=headers | (bearer(**token) if token else {}))


async def count(owner: asyncpg.Connection) -> int:
    return await owner.fetchval("SELECT count(*) FROM thing")


async def let_wait(things: Things, root: asyncpg.Connection, sessions: int) -> None:
    """Hold the one that has the key until so many other sessions wait for it, then let all go on."""
    waiting = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    """
    try:
        await eventually(
            lambda: root.fetchval(waiting), until=lambda count: count == sessions, what=f"{sessions} sessions wait"
        )
    finally:
        things.gate.set()


def slug(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"]


async def test_the_same_key_later_replays_the_first_answer_byte_for_byte(client, things, owner) -> None:
    first = await post(client, "k-1")
    again = await post(client, "k-1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.headers["location"] == again.headers["location"] == f"/things/{first.json()['id']}"
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["content-type"] == "application/json"
    assert (things.ran, await count(owner)) == (1, 1)


async def test_a_replay_has_the_status_of_the_first_answer(client) -> None:
    assert [(await post(client, "k", path="/groups/a/things")).status_code for _ in range(2)] == [202, 202]


async def test_many_at_once_with_one_key_make_one_thing(client, things, owner, root) -> None:
    things.gate.clear()
    waiting = [asyncio.create_task(post(client, "k-1")) for _ in range(8)]
    await let_wait(things, root, 7)
    answers = await asyncio.gather(*waiting)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum(answer.headers.get("idempotent-replayed") == "true" for answer in answers) == 7
    assert (things.ran, await count(owner)) == (1, 1)


async def test_when_the_first_of_two_at_once_fails_the_second_takes_effect(client, things, owner, root) -> None:
    things.gate.clear()
    things.refusing = True
    first = asyncio.create_task(post(client, "k-1"))
    second = asyncio.create_task(post(client, "k-1"))
    await let_wait(things, root, 1)
    assert {slug(await first), slug(await second)} == {(409, "thing-refused")}
    things.refusing = False
    assert (await post(client, "k-1")).status_code == 201
    assert (things.ran, await count(owner)) == (3, 1)


async def test_the_same_key_for_another_body_is_refused_and_changes_nothing(client, things, owner) -> None:
    await post(client, "k-1", name="first")
    assert slug(await post(client, "k-1", name="second")) == (422, "idempotency-key-reused")
    assert (things.ran, await count(owner)) == (1, 1)


async def test_the_same_key_on_another_path_of_the_operation_is_another_request(client) -> None:
    await post(client, "k-1", path="/groups/a/things")
    assert slug(await post(client, "k-1", path="/groups/b/things")) == (422, "idempotency-key-reused")


async def test_how_the_body_is_written_does_not_matter(client) -> None:
    headers = {"Idempotency-Key": "k-1", "Content-Type": "application/json"}
    first = await client.post("/things", content='{"name":"a","lines":[]}', headers=headers)
    again = await client.post("/things", content='{ "lines": [],\n "name": "\\u0061" }', headers=headers)
    assert first.content == again.content


async def test_keys_are_apart_by_caller_and_by_operation(client, things, owner) -> None:
    await post(client, "k-1")
    assert "idempotent-replayed" not in (await post(client, "k-1", sub="customer-2")).headers
    assert "idempotent-replayed" not in (await post(client, "k-1", path="/groups/a/things")).headers
    assert (things.ran, await count(owner)) == (3, 3)


async def test_a_refusal_leaves_the_key_free(client, things, owner) -> None:
    things.refusing = True
    assert slug(await post(client, "k-1")) == (409, "thing-refused")
    things.refusing = False
    assert (await post(client, "k-1", name="another body")).status_code == 201
    assert await count(owner) == 1


@pytest.mark.parametrize("key", [None, ""])
async def test_without_a_key_nothing_is_made(client, things, key: str | None) -> None:
    assert slug(await post(client, key)) == (400, "idempotency-key-missing")
    assert things.ran == 0


@pytest.mark.parametrize("key", ["a b", "x" * 129, "a\tb"])
async def test_an_unfit_key_is_refused(client, things, key: str) -> None:
    assert slug(await post(client, key)) == (400, "idempotency-key-malformed")
    assert things.ran == 0
    assert (await post(client, "x" * 128)).status_code == 201


async def test_without_a_token_the_key_is_not_even_looked_at(client) -> None:
    answer = await client.post("/things", json={"name": "a"}, headers={"Authorization": ""})
    assert slug(answer) == (401, "token-missing")


async def test_a_use_case_that_forgets_its_answer_does_not_commit(database: Database, owner) -> None:
    claim = IdempotencyClaim(subject="c", operation="make_thing", key="k", fingerprint=b"1")
    with pytest.raises(Unanswered, match=r"idempotency\.answer"):
        async with database.transaction(claim=claim):
            pass
    assert await owner.fetchval("SELECT count(*) FROM idempotency_key") == 0


async def test_a_key_that_is_purged_between_the_two_looks_is_claimed(database: Database, owner, monkeypatch) -> None:
    claim = IdempotencyClaim(subject="c", operation="make_thing", key="k", fingerprint=b"1")
    view = ThingView(id=uuid4(), name="a", line_count=0)
    async with database.transaction(claim=claim) as tx:
        await claim.answer(view, tx)
    await owner.execute(
        """
        CREATE FUNCTION purge_in_between() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN DELETE FROM idempotency_key WHERE answer IS NOT NULL; RETURN NULL; END $$;
        CREATE TRIGGER purge AFTER INSERT ON idempotency_key FOR EACH STATEMENT EXECUTE FUNCTION purge_in_between();
        """
    )
    async with database.transaction(claim=claim) as tx:
        await claim.answer(ThingView(id=uuid4(), name="b", line_count=0), tx)
    assert "b" in await owner.fetchval("SELECT answer FROM idempotency_key")


async def test_operations_are_named_like_methods() -> None:
    with pytest.raises(ValueError, match="place_order"):
        idempotency("POST /orders")
