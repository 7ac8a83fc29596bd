"""The inbox: what a consumer has handled, so that a second delivery changes nothing."""

from .claim import AlreadyHandled, InboxClaim

__all__ = ["AlreadyHandled", "InboxClaim"]
