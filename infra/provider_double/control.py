"""The `/_double` surface: what a test or a person asks of the double itself. Not authenticated: loopback only."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, Field

from provider_double.adjustments import Adjustments
from provider_double.deliveries import Deliverer
from provider_double.events import Events
from provider_double.faults import ActiveRule, FaultRule, Faults, HeldCall
from provider_double.ledger import Ledger, MoveKind
from provider_double.store import Store

Limit = Annotated[int, Query(ge=1, le=10_000)]
Cursor = Annotated[int, Query(ge=0)]


class ClockShift(BaseModel):
    """Seconds to move the provider's clock by; negative moves it back."""

    shift_seconds: float


class SearchDelay(BaseModel):
    delay_seconds: float = Field(ge=0)


class Times(BaseModel):
    times: int = Field(default=1, ge=1, le=100)


def control_router(
    *,
    store: Store,
    adjustments: Adjustments,
    ledger: Ledger,
    faults: Faults,
    events: Events,
    deliverer: Deliverer,
) -> APIRouter:
    router = APIRouter(prefix="/_double")
    _ledger_routes(router, ledger)
    _fault_routes(router, faults)
    _webhook_routes(router, events, deliverer, adjustments.now)

    @router.get("/clock")
    async def clock() -> dict[str, float]:
        return {"now": adjustments.now(), "offset_seconds": adjustments.clock_offset}

    @router.post("/clock")
    async def shift_clock(shift: ClockShift) -> dict[str, float]:
        adjustments.shift_clock(shift.shift_seconds)
        deliverer.wake()
        return {"now": adjustments.now(), "offset_seconds": adjustments.clock_offset}

    @router.put("/search")
    async def set_search_delay(delay: SearchDelay) -> dict[str, float]:
        adjustments.set_search_delay(delay.delay_seconds)
        return {"delay_seconds": adjustments.search_delay}

    @router.post("/reset")
    async def reset() -> dict[str, str]:
        """Forget intents, refunds, keys, ledger, webhooks, clock and faults. Held calls lose their connection."""
        faults.abandon()
        events.to_duplicate = 0
        store.clear()
        adjustments.forget()
        deliverer.paused = False
        return {"status": "reset"}

    return router


def _ledger_routes(router: APIRouter, ledger: Ledger) -> None:
    @router.get("/ledger")
    async def read(
        *,
        calls_after: Cursor = 0,
        moves_after: Cursor = 0,
        limit: Limit = 1000,
        payment_id: str | None = None,
        order_id: str | None = None,
        intent: str | None = None,
        operation: str | None = None,
        kind: MoveKind | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Calls and money moves, oldest first. `operation` narrows the calls, `kind` the moves, the others both.

        A cursor is the `seq` of the last row given, or the one asked with; ask with it again for what came since.
        """
        subject = {
            "payment_id": payment_id,
            "order_id": order_id,
            "intent": intent,
            "idempotency_key": idempotency_key,
        }
        calls = ledger.calls(calls_after, limit, operation=operation, **subject)
        moves = ledger.moves(moves_after, limit, kind=kind, **subject)
        return {
            "calls": calls,
            "calls_cursor": calls[-1]["seq"] if calls else calls_after,
            "moves": moves,
            "moves_cursor": moves[-1]["seq"] if moves else moves_after,
        }

    @router.get("/ledger/sums")
    async def sums(
        payment_id: str | None = None, order_id: str | None = None, intent: str | None = None
    ) -> list[dict[str, Any]]:
        """Per currency: captured, refunded, net (minor units), captures, refunds, intents (counts)."""
        return ledger.sums(payment_id=payment_id, order_id=order_id, intent=intent)


def _fault_routes(router: APIRouter, faults: Faults) -> None:
    @router.post("/faults", status_code=201)
    async def add_fault(rule: FaultRule) -> ActiveRule:
        return faults.add(rule)

    @router.get("/faults")
    async def list_faults() -> list[ActiveRule]:
        """The rules that still wait for calls."""
        return faults.rules()

    @router.delete("/faults")
    async def clear_faults() -> dict[str, str]:
        """Drop the rules; calls that are held stay held."""
        faults.clear_rules()
        return {"status": "cleared"}

    @router.get("/held")
    async def list_held() -> list[dict[str, Any]]:
        return [_held_view(held) for held in faults.held()]

    @router.post("/held/release")
    async def release_all() -> list[dict[str, Any]]:
        released = faults.held()
        for held in released:
            faults.release(held)
        return [_held_view(held) for held in released]

    @router.post("/held/{held_id}/release")
    async def release(held_id: int) -> dict[str, Any]:
        for held in faults.held():
            if held.id == held_id:
                faults.release(held)
                return _held_view(held)
        raise HTTPException(404, f"no call {held_id} is held")


def _webhook_routes(router: APIRouter, events: Events, deliverer: Deliverer, now: Callable[[], float]) -> None:
    @router.get("/webhooks")
    async def list_webhooks(after: Cursor = 0, limit: Limit = 1000, object: str | None = None) -> dict[str, Any]:  # noqa: A002 - the query parameter's name
        """Events of one intent or refund, or of all, oldest first, with their deliveries."""
        page = events.page(after, limit, object)
        return {"events": page, "cursor": page[-1]["seq"] if page else after, "paused": deliverer.paused}

    @router.post("/webhooks/duplicate")
    async def duplicate(times: Times) -> dict[str, int]:
        """Each of the next so many events is delivered twice."""
        events.to_duplicate = times.times
        return {"to_duplicate": events.to_duplicate}

    @router.post("/webhooks/pause")
    async def pause() -> dict[str, bool]:
        deliverer.paused = True
        return {"paused": True}

    @router.post("/webhooks/resume")
    async def resume() -> dict[str, bool]:
        deliverer.paused = False
        return {"paused": False}

    @router.post("/webhooks/{event_id}/replay")
    async def replay(event_id: str, times: Times) -> dict[str, Any]:
        """Deliver a recorded event again, so many times."""
        if not events.exists(event_id):
            raise HTTPException(404, f"no event {event_id}")
        events.deliver(event_id, times.times, now())
        deliverer.wake()
        return {"event": event_id, "times": times.times}


def _held_view(held: HeldCall) -> dict[str, Any]:
    call = held.call
    return {
        "id": held.id,
        "rule": held.rule,
        "point": held.point,
        "operation": call.operation,
        "intent": call.intent,
        "payment_id": call.payment_id,
        "order_id": call.order_id,
        "idempotency_key": call.idempotency_key,
        "request_id": call.request_id,
    }
