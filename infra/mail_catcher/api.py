"""The part of Mailpit's API v1 that we use, so that Mailpit itself can take this place.

https://mailpit.axllent.org/docs/api-v1/
"""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, Field, ValidationError

from mail_catcher.mailbox import Filter, Mailbox
from mail_catcher.search import SearchRefusedError, parse

Start = Annotated[int, Query(ge=0)]
Limit = Annotated[int, Query(ge=1, le=10_000)]

# A browser would run these in our origin, so they are offered as downloads, as Mailpit does.
_ACTIVE_TYPES = frozenset({"text/html", "text/xml", "application/xhtml+xml", "image/svg+xml", "application/xml"})


class Deletion(BaseModel):
    ids: list[str] = Field(default=[], alias="IDs", max_length=10_000)


def api_router(mailbox: Mailbox) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/messages")
    async def list_messages(start: Start = 0, limit: Limit = 50) -> dict[str, Any]:
        return _listing(mailbox, start, limit, [])

    @router.get("/search", response_model=None)
    async def search(query: str = "", start: Start = 0, limit: Limit = 50) -> dict[str, Any] | Response:
        try:
            filters = parse(query)
        except SearchRefusedError as error:
            return PlainTextResponse(str(error), 400)
        return _listing(mailbox, start, limit, filters)

    @router.delete("/messages")
    async def delete_messages(request: Request) -> PlainTextResponse:
        """Delete the mails named by `{"IDs": […]}`, or all without a body."""
        body = await request.body()
        try:
            deletion = Deletion.model_validate_json(body or b"{}")
        except ValidationError as error:
            raise HTTPException(400, "the body is no list of IDs") from error
        mailbox.delete(deletion.ids)
        return PlainTextResponse("ok")

    @router.get("/message/{identifier}")
    async def get_message(identifier: str) -> dict[str, Any]:
        """One mail by its ID, or `latest`. It counts as read from now on."""
        view = mailbox.view(_resolve(mailbox, identifier))
        if view is None:
            raise HTTPException(404, "no such message")
        return view

    @router.get("/message/{identifier}/raw")
    async def get_raw(identifier: str) -> PlainTextResponse:
        raw = mailbox.raw(_resolve(mailbox, identifier))
        if raw is None:
            raise HTTPException(404, "no such message")
        return PlainTextResponse(raw)

    @router.get("/message/{identifier}/part/{part_id}")
    async def get_part(identifier: str, part_id: str) -> Response:
        mail = mailbox.mail(_resolve(mailbox, identifier))
        for part in mail.files if mail is not None else []:
            if part.id == part_id:
                active = part.content_type in _ACTIVE_TYPES
                disposition = "attachment" if active else "inline"
                return Response(
                    part.content,
                    media_type="application/octet-stream" if active else part.content_type,
                    headers={"Content-Disposition": f'{disposition}; filename="{quote(part.file_name)}"'},
                )
        raise HTTPException(404, "no such message part")

    return router


def _resolve(mailbox: Mailbox, identifier: str) -> str:
    return mailbox.latest_id() or "" if identifier == "latest" else identifier


def _listing(mailbox: Mailbox, start: int, limit: int, filters: list[Filter]) -> dict[str, Any]:
    messages = mailbox.summaries(start, limit, filters)
    return {
        "total": mailbox.count([]),
        "unread": mailbox.count([], unread=True),
        "count": len(messages),
        "messages_count": mailbox.count(filters),
        "messages_unread": mailbox.count(filters, unread=True),
        "start": start,
        "tags": [],
        "messages": messages,
    }
