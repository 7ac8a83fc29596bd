"""Creating requests that take effect once: the key is claimed with the effect, and its answer is kept."""

from .claim import AlreadyAnswered, IdempotencyClaim, Unanswered
from .errors import IdempotencyKeyReused
from .purge import purge_idempotency_keys

__all__ = ["AlreadyAnswered", "IdempotencyClaim", "IdempotencyKeyReused", "Unanswered", "purge_idempotency_keys"]
