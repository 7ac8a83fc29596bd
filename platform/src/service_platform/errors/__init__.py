"""What a use case refuses, in the domain's words; transports map it once."""

from .description import describe, storable
from .tree import Conflict, DomainError, Forbidden, Invalid, Malformed, NotFound, Unauthenticated, Unavailable

__all__ = [
    "Conflict",
    "DomainError",
    "Forbidden",
    "Invalid",
    "Malformed",
    "NotFound",
    "Unauthenticated",
    "Unavailable",
    "describe",
    "storable",
]
