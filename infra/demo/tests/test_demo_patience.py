"""Requests outlive a server that is killed under them, and end by themselves when it does not come back."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from time import monotonic

import pytest

from demo.patience import PatientClient, Refused, Unanswered


def answer(status: str, body: str = "", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


CUT_OFF = b""
GOOD = answer("200 OK", "good")


@asynccontextmanager
async def answering(answers: Sequence[bytes] | Callable[[bytes], bytes]) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that answers by the request, or gives these answers in turn and the last one for ever.

    It keeps what it was asked.
    """
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readuntil(b"}") if head.startswith(b"POST") else b""
        asked.append(head + body)
        turn = len(asked) - 1
        writer.write(answers(asked[-1]) if callable(answers) else answers[min(turn, len(answers) - 1)])
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


@pytest.mark.parametrize(
    "lost",
    [CUT_OFF, answer("500 Error"), answer("503 Away"), answer("429 Slow down"), answer("408 Slow")],
    ids=["connection cut", "500", "503", "429", "408"],
)
async def test_a_lost_answer_is_asked_for_again_with_the_same_key_and_body(lost: bytes) -> None:
    async with answering([lost, lost, GOOD]) as (url, asked), PatientClient(url, patience=30) as client:
        response = await client.post("/orders", {"n": 1}, token="t", idempotency_key="key-1")
    assert response.text == "good"
    assert len(asked) == 3
    assert len(set(asked)) == 1
    assert b"idempotency-key: key-1" in asked[0].lower()


async def test_a_refusal_is_not_asked_again() -> None:
    async with answering([answer("422 No", "no such currency"), GOOD]) as (url, asked):
        async with PatientClient(url, patience=30) as client:
            with pytest.raises(Refused, match="422: no such currency") as refused:
                await client.get("/orders")
        assert refused.value.status == 422
        assert len(asked) == 1


async def test_retry_after_is_kept() -> None:
    slow = answer("429 Slow down", Retry_After="1")
    async with answering([slow, GOOD]) as (url, _asked), PatientClient(url, patience=30) as client:
        begun = monotonic()
        await client.get("/orders")
    assert monotonic() - begun >= 1


async def test_a_server_that_does_not_come_back_is_given_up_and_its_last_word_told() -> None:
    async with answering([answer("503 Away", "still starting")]) as (url, asked):
        async with PatientClient(url, patience=0.5) as client:
            with pytest.raises(Unanswered, match=r"GET .*/orders .* 0.5 s.*status 503: still starting"):
                await client.get("/orders")
        assert len(asked) > 1


async def test_a_slow_server_is_not_given_up_while_it_answers_others() -> None:
    begun = monotonic()

    def unlucky_for_a_while(request: bytes) -> bytes:
        return answer("503 Away") if b"/unlucky" in request and monotonic() - begun < 1.5 else GOOD

    async with answering(unlucky_for_a_while) as (url, _asked), PatientClient(url, patience=0.5) as client:
        waiting = asyncio.create_task(client.get("/unlucky"))
        while not waiting.done():
            await client.get("/lucky")
        assert (await waiting).text == "good"
    assert monotonic() - begun > 1.5
