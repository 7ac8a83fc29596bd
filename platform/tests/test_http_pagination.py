"""Cursors: what was encoded comes back, and nothing else is taken for one."""

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated
from uuid import UUID

import pytest
from fastapi import APIRouter
from http_lab import app_with, bearer, client_of
from hypothesis import given
from hypothesis import strategies as st

from service_platform.http import PageWanted, Principal, require
from service_platform.pagination import CursorInvalid, Page, PageRequest, Position, decode_cursor, encode_cursor

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = [Position(START - timedelta(seconds=number // 2), UUID(int=1000 - number)) for number in range(45)]

positions = st.builds(
    Position,
    st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 30), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis adds it
    st.uuids(),
)


def page_of(wanted: PageRequest) -> Page[str]:
    """What a table does: the rows after the position, one more than the page."""
    after = [row for row in ROWS if wanted.after is None or row < wanted.after][: wanted.rows_to_read]
    return Page[str].of(after, wanted, item=lambda row: str(row.id), position=lambda row: row)


@given(positions)
def test_a_position_survives_its_cursor_to_the_microsecond(position: Position) -> None:
    assert decode_cursor(encode_cursor(position)) == position


@given(st.one_of(st.text(max_size=64), st.binary(max_size=40).map(lambda raw: base64.urlsafe_b64encode(raw).decode())))
def test_anything_else_is_refused_or_is_the_one_cursor_of_its_position(text: str) -> None:
    try:
        position = decode_cursor(text)
    except CursorInvalid:
        return
    assert encode_cursor(position) == text


@given(positions, st.integers(0, 33), st.sampled_from("ABCXYZabcxyz019-_=+/ "))
def test_a_changed_cursor_is_refused_or_a_cursor_in_its_own_right(position: Position, index: int, letter: str) -> None:
    cursor = encode_cursor(position)
    changed = cursor[:index] + letter + cursor[index + 1 :]
    try:
        assert encode_cursor(decode_cursor(changed)) == changed
    except CursorInvalid:
        assert changed != cursor


@pytest.fixture
async def client(tmp_path: Path):
    router = APIRouter()

    @router.get("/rows")
    async def rows(_: Annotated[Principal, require("things:read")], page: PageWanted) -> Page[str]:
        return page_of(page)

    async with client_of(app_with(tmp_path, router), headers=bearer()) as client:
        yield client


@pytest.mark.parametrize("limit", [1, 2, 7, 15, 44, 45, 46, 100])
async def test_following_the_cursors_shows_every_row_once_and_ends(client, limit: int) -> None:
    seen: list[str] = []
    parameters: dict[str, object] = {"limit": limit}
    for _ in range(len(ROWS) // limit + 1):
        page = (await client.get("/rows", params=parameters)).json()
        assert len(page["items"]) <= limit
        seen += page["items"]
        if page["next_cursor"] is None:
            break
        parameters["cursor"] = page["next_cursor"]
    else:
        pytest.fail("the pages do not end")
    assert seen == [str(row.id) for row in ROWS]


async def test_a_page_has_twenty_rows_unless_asked(client) -> None:
    assert len((await client.get("/rows")).json()["items"]) == 20


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "limit=1.5", "cursor=" + "A" * 65])
async def test_what_is_out_of_bounds_is_a_validation_problem(client, query: str) -> None:
    answer = await client.get(f"/rows?{query}")
    assert (answer.status_code, answer.json()["type"]) == (422, "validation-failed")


@pytest.mark.parametrize("cursor", ["", "x", "../../etc/passwd", "A" * 34, "%C3%A9"])
async def test_a_cursor_that_is_none_is_told_so(client, cursor: str) -> None:
    answer = await client.get(f"/rows?cursor={cursor}")
    assert (answer.status_code, answer.json()["type"]) == (422, "cursor-invalid")
