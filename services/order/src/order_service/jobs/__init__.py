"""Work that happens after a commit, or at a time: processors and their steps."""

from .expire_orders import ExpireOrders

__all__ = ["ExpireOrders"]
