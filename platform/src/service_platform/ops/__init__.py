"""Operator actions: what people may do to a running service beside its use cases, each declared once.

A module declares its actions in its `operations.py`; `service_platform.operations` lists them all. From that one list
come the functions (`ActionRunner.run`), the command (`ops.command`, tables for people and JSON for programs) and the
HTTP routes (`ops.routes`, scope `ops`). Each call leaves an audit row, whichever way it came: that of a change commits
with the change.

Three more surfaces, each imported only where it is used: `ops.command` (typer), `ops.routes` (FastAPI) and `ops.schema`
(Alembic).
"""

from .action import Action, ActionContext, ActionInput, ListInput, listing
from .audit import AuditEntry, audit_entries
from .bulk import BulkAction, BulkInput, BulkItem, BulkResult, bulk
from .operator import Operator, Via
from .registry import ActionRegistry
from .runner import ActionRunner

__all__ = [
    "Action",
    "ActionContext",
    "ActionInput",
    "ActionRegistry",
    "ActionRunner",
    "AuditEntry",
    "BulkAction",
    "BulkInput",
    "BulkItem",
    "BulkResult",
    "ListInput",
    "Operator",
    "Via",
    "audit_entries",
    "bulk",
    "listing",
]
