"""Placing and reading orders."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response

from order_service.domain.orders import (
    CancelOrder,
    OrderNotFound,
    OrderQueries,
    OrderService,
    OrderStateConflict,
    OrderView,
    PlaceOrder,
    TotalTooLarge,
    UnknownCurrency,
)
from service_platform.http import PageWanted, Principal, idempotency, problems_of, require
from service_platform.idempotency import IdempotencyClaim
from service_platform.pagination import Page, Position

from .bodies import PlaceOrderBody
from .filters import OrdersWanted

_READ_ALL = "orders:read_all"

Reader = Annotated[Principal, require("orders:read")]


def orders_router(service: OrderService, orders: OrderQueries) -> APIRouter:
    """`POST /orders`, `POST /orders/{id}/cancel` (orders:write), `GET /orders` and `GET /orders/{id}` (orders:read).

    A customer is the token's subject and sees their own orders; with orders:read_all one sees everybody's.
    """
    router = APIRouter(prefix="/orders", tags=["orders"])

    @router.post("", status_code=201, responses=problems_of(UnknownCurrency, TotalTooLarge))
    async def place_order(
        body: PlaceOrderBody,
        response: Response,
        principal: Annotated[Principal, require("orders:write")],
        claim: Annotated[IdempotencyClaim, idempotency("place_order", location="/orders/{id}")],
    ) -> OrderView:
        view = await service.place(
            PlaceOrder(
                idempotency=claim,
                customer_id=principal.subject,
                customer_email=body.customer_email,
                locale=body.locale,
                currency=body.currency,
                payment_method=body.payment_method,
                lines=[line.line() for line in body.lines],
            )
        )
        response.headers["Location"] = f"/orders/{view.id}"
        return view

    @router.get("")
    async def list_orders(page: PageWanted, wanted: OrdersWanted, reader: Reader) -> Page[OrderView]:
        """The caller's orders, newest first; with orders:read_all everybody's.

        Ask for the next page with the same filters. A cursor may be kept for as long as one likes.
        """
        rows = await orders.newest(
            customer_id=_whose(reader), before=page.after, limit=page.rows_to_read, wanted=wanted
        )
        return Page[OrderView].of(
            rows, page, item=lambda row: row, position=lambda row: Position(row.placed_at, row.id)
        )

    @router.get("/{order_id}", responses=problems_of(OrderNotFound))
    async def get_order(order_id: UUID, reader: Reader) -> OrderView:
        return await orders.get(order_id, customer_id=_whose(reader))

    @router.post("/{order_id}/cancel", status_code=202, responses=problems_of(OrderNotFound, OrderStateConflict))
    async def cancel_order(order_id: UUID, principal: Annotated[Principal, require("orders:write")]) -> OrderView:
        """Ask for the order to be cancelled, before or after it is paid.

        It is `cancelling` until payment has answered, and `cancelled` when no money of it is kept. To ask again changes
        nothing and answers the order as it is, so no Idempotency-Key is needed.
        """
        return await service.cancel(CancelOrder(customer_id=principal.subject, order_id=order_id))

    return router


def _whose(reader: Principal) -> str | None:
    """Whose orders the caller may see; None means everybody's."""
    return None if reader.may(_READ_ALL) else reader.subject
