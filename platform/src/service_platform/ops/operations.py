"""The audit of operator actions, as an operator action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from service_platform.messages import Catalogue
from service_platform.pagination import Page, PageRequest, Position

from .action import ActionContext, ListInput, listing
from .audit import AuditEntry, Outcome, audit_entries

MESSAGES: Final = Catalogue(
    {
        "audit": {
            "en": "What operators did",
            "vi": "Những gì người vận hành đã làm",
        },
        "audit list": {
            "en": "List calls of operator actions, newest first",
            "vi": "Liệt kê các lần gọi thao tác vận hành, mới nhất trước",
        },
        "audit list.detail": {
            "en": "Who called what, when and by which door, and what came of it: reads, refusals and failures too.",
            "vi": "Ai đã gọi gì, khi nào, qua cửa nào và kết quả ra sao: kể cả lệnh đọc, bị từ chối và bị lỗi.",
        },
    }
)


class ListAudit(ListInput):
    """Which calls to list."""

    by: Annotated[str | None, Field(max_length=255, description="Only calls of this actor", examples=["jane"])] = None
    action: Annotated[
        str | None, Field(max_length=100, description="Only calls of this action", examples=["audit list"])
    ] = None
    outcome: Annotated[
        Outcome | None, Field(description="Only calls that ended so: done, refused or failed", examples=["done"])
    ] = None


async def _find(given: ListAudit, page: PageRequest, context: ActionContext) -> Sequence[AuditEntry]:
    return await audit_entries(context.session, page, actor=given.by, action=given.action, outcome=given.outcome)


LIST_AUDIT: Final = listing(
    name="audit list",
    messages=MESSAGES,
    input=ListAudit,
    result=Page[AuditEntry],
    find=_find,
    position=lambda entry: Position(entry.at, entry.id),
    columns=("at", "actor", "via", "action", "outcome", "detail", "input"),
)
