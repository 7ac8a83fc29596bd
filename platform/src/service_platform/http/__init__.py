"""The HTTP edge of a service: closed by default, bounded, idempotent, and problem+json for everything that fails."""

from .access import UndeclaredRoute, public, require
from .app import create_app
from .example import example_of
from .health import ReadyCheck, database_answers
from .idempotency import idempotency
from .pagination import PageWanted
from .problem_docs import problems_of
from .serve import run_api
from .tokens import Principal

__all__ = [
    "PageWanted",
    "Principal",
    "ReadyCheck",
    "UndeclaredRoute",
    "create_app",
    "database_answers",
    "example_of",
    "idempotency",
    "problems_of",
    "public",
    "require",
    "run_api",
]
