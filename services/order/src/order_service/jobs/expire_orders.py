"""Cancels the orders that were not paid in time."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from order_service.domain.orders import EXPIRE_ORDERS, ExpireOrdersPayload, ExpireUnpaidOrders, OrderService
from service_platform.jobs import FencedProcessor, JobRun, Step


class ExpireOrdersStep(Step[ExpireOrdersPayload]):
    """Asks for the cancel of each order that is unpaid for longer than `unpaid_for`."""

    name: ClassVar[str] = "expire-orders"

    def __init__(self, orders: OrderService, unpaid_for: timedelta) -> None:
        self._orders = orders
        self._unpaid_for = unpaid_for

    async def run(self, run: JobRun[ExpireOrdersPayload]) -> None:
        await self._orders.expire(ExpireUnpaidOrders(fence=run.fence(self.name), unpaid_for=self._unpaid_for))


class ExpireOrders(FencedProcessor[ExpireOrdersPayload]):
    """One look for overdue orders; a tick asks for it."""

    kind = EXPIRE_ORDERS

    def __init__(self, orders: OrderService, unpaid_for: timedelta) -> None:
        super().__init__([ExpireOrdersStep(orders, unpaid_for)])
