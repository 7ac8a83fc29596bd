"""What becomes of an order in every order of events, on a real database.

Payment's events have a consumer and retries each, so any of them may come before any other, and a customer cancels
whenever they like.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import permutations
from uuid import UUID

import pytest
from order_lab import (
    TOTAL_MINOR,
    cancel_order,
    mark_cancelled,
    mark_declined,
    mark_paid,
    placed,
    record_refund,
    shown,
)

from order_service.bootstrap import order_service
from order_service.domain.orders import OrderLine, OrderService, OrderStateConflict, RefundNotPossible
from service_platform.database import Database

REFUSED = (OrderStateConflict, RefundNotPossible)

Happening = Callable[[OrderService, UUID], Awaitable[object]]
EVENTS: dict[str, Happening] = {
    "cancel": lambda service, order_id: service.cancel(cancel_order(order_id)),
    "settled": lambda service, order_id: service.mark_paid(mark_paid(order_id)),
    "declined": lambda service, order_id: service.mark_declined(mark_declined(order_id)),
    "cancelled": lambda service, order_id: service.mark_cancelled(mark_cancelled(order_id)),
    "part": lambda service, order_id: service.record_refund(record_refund(order_id, 1_000)),
    "rest": lambda service, order_id: service.record_refund(record_refund(order_id, TOTAL_MINOR - 1_000)),
    "all": lambda service, order_id: service.record_refund(record_refund(order_id, TOTAL_MINOR)),
}
NO = "refused"

# The state after `history`, and what each event makes of it.
TABLE: dict[tuple[str, ...], dict[str, str]] = {
    (): {
        "cancel": "cancelling",
        "settled": "paid",
        "declined": "declined",
        "cancelled": NO,  # nobody asked for it
        "part": "pending_payment",  # it was settled, which this service has not heard yet
        "all": "pending_payment",
    },
    ("settled",): {
        "cancel": "cancelling",
        "settled": NO,
        "declined": NO,
        "cancelled": NO,
        "part": "paid",
        "all": "paid",
    },
    ("settled", "part"): {
        "cancel": "cancelling",
        "settled": NO,
        "declined": NO,
        "cancelled": NO,
        "part": "paid",
        "all": NO,  # more than it cost
    },
    ("settled", "all"): {
        "cancel": "cancelling",  # payment answers that nothing is left
        "settled": NO,
        "declined": NO,
        "cancelled": NO,
        "part": NO,
        "all": NO,
    },
    ("declined",): {
        "cancel": NO,
        "settled": NO,
        "declined": NO,
        "cancelled": NO,
        "part": NO,
        "all": NO,
    },
    ("cancel",): {
        "cancel": "cancelling",
        "settled": "cancelling",  # the refund is on its way
        "declined": "cancelled",
        "cancelled": "cancelled",
        "part": "cancelling",
        "all": "cancelled",
    },
    ("settled", "cancel"): {
        "cancel": "cancelling",
        "settled": NO,
        "declined": NO,
        "cancelled": NO,  # it would keep the money
        "part": "cancelling",
        "all": "cancelled",
    },
    ("settled", "all", "cancel"): {
        "cancel": "cancelling",
        "settled": NO,
        "declined": NO,
        "cancelled": "cancelled",
        "part": NO,
        "all": NO,
    },
    ("cancel", "all"): {
        "cancel": "cancelled",
        "settled": "cancelled",
        "declined": NO,
        "cancelled": "cancelled",
        "part": NO,
        "all": NO,
    },
    ("cancel", "cancelled"): {
        "cancel": "cancelled",
        "settled": NO,  # money of a cancelled order: not before its refund
        "declined": "cancelled",
        "cancelled": "cancelled",
        "part": "cancelled",
        "all": "cancelled",
    },
}


@pytest.mark.parametrize("history", TABLE, ids=lambda history: " ".join(history) or "placed")
async def test_each_event_in_each_state_leads_to_one_state_or_is_refused_without_a_trace(
    order_database: Database, history: tuple[str, ...]
) -> None:
    service = order_service(order_database)
    for event, expected in TABLE[history].items():
        order = await placed(order_database)
        for before in history:
            await EVENTS[before](service, order.id)
        state = await shown(order_database, order.id)
        if expected == NO:
            with pytest.raises(REFUSED):
                await EVENTS[event](service, order.id)
            assert await shown(order_database, order.id) == state, f"{event} was refused and changed something"
        else:
            await EVENTS[event](service, order.id)
            assert (await shown(order_database, order.id)).status == expected, f"{history} then {event}"


# What payment tells in one story, and with "cancel" what only happens after it: (story, what the cancel brought about).
STORIES: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("settled", "part", "rest"), ()),
    (("cancel", "cancelled"), ("cancelled",)),
    (("cancel", "declined"), ()),
    (("cancel", "settled", "all"), ("all",)),
    (("cancel", "settled", "part", "rest"), ("rest",)),
    (("cancel", "settled", "all", "cancelled"), ("cancelled",)),
]


def interleavings(story: Sequence[str], answers: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for order in permutations(story):
        if all(order.index("cancel") < order.index(answer) for answer in answers):
            yield order


async def deliver(service: OrderService, order_id: UUID, events: Sequence[str]) -> list[str]:
    """Deliver in this order; what is refused is tried again after each success, as a retry does. What took effect."""
    done: list[str] = []
    waiting: list[str] = []
    for event in events:
        waiting.append(event)
        progress = True
        while progress:
            progress = False
            for each in [*waiting]:
                try:
                    await EVENTS[each](service, order_id)
                except REFUSED:
                    if each == "cancel":
                        waiting.remove(each)  # the customer was told so
                    continue
                waiting.remove(each)
                done.append(each)
                progress = True
    assert not waiting, f"{events}: {waiting} would end as dead letters"
    return done


@pytest.mark.parametrize(("story", "answers"), STORIES, ids=lambda part: " ".join(part) or "-")
async def test_every_order_of_one_story_ends_in_the_same_state(
    order_database: Database, story: tuple[str, ...], answers: tuple[str, ...]
) -> None:
    service = order_service(order_database)
    for events in interleavings(story, answers):
        order = await placed(order_database)
        done = await deliver(service, order.id, events)
        view = await shown(order_database, order.id)
        back = sum({"part": 1_000, "rest": TOTAL_MINOR - 1_000, "all": TOTAL_MINOR}.get(event, 0) for event in done)
        if "cancel" in done:
            assert view.status == "cancelled", events
        else:
            assert view.status == ("declined" if "declined" in done else "paid"), events
        assert (view.refunded_minor, view.paid_at is not None) == (back, "settled" in done), events
        assert len(view.timeline) == 1 + len(done) + (view.status == "cancelled"), events


@pytest.mark.parametrize(
    ("together", "ends"),
    [
        (("cancel", "settled"), {"cancelling"}),
        (("cancel", "declined"), {"cancelled", "declined"}),
        (("settled", "declined"), {"paid", "declined"}),
        (("settled", "all"), {"paid"}),
        (("part", "rest"), {"pending_payment"}),
        (("all", "all"), {"pending_payment"}),
    ],
    ids=lambda value: " and ".join(sorted(value)),
)
async def test_two_events_at_the_same_instant_end_as_one_after_the_other(
    order_database: Database, together: tuple[str, str], ends: set[str]
) -> None:
    service = order_service(order_database)
    for _ in range(5):
        order = await placed(order_database)
        answers = await asyncio.gather(
            *(EVENTS[event](service, order.id) for event in together), return_exceptions=True
        )
        assert all(isinstance(answer, REFUSED) for answer in answers if isinstance(answer, BaseException)), answers
        view = await shown(order_database, order.id)
        taken = sum(not isinstance(answer, BaseException) for answer in answers)
        assert view.status in ends
        assert taken >= 1
        assert len(view.timeline) == 1 + taken + (view.status == "cancelled")
        assert view.refunded_minor in {0, TOTAL_MINOR}


async def test_a_free_order_is_cancelled_by_payments_answer_alone(order_database: Database) -> None:
    service = order_service(order_database)
    for events in (("cancel", "settled", "cancelled"), ("settled", "cancel", "cancelled")):
        gift = OrderLine(sku="GIFT-1", quantity=1, unit_price_minor=0, tax_rate_bp=0)
        free = await placed(order_database, lines=[gift])
        await deliver(service, free.id, events)
        assert (await shown(order_database, free.id)).status == "cancelled"


async def test_a_refund_in_another_currency_is_refused(order_database: Database) -> None:
    order = await placed(order_database)
    with pytest.raises(RefundNotPossible):
        await order_service(order_database).record_refund(record_refund(order.id, 1_000, currency="EUR"))
    assert (await shown(order_database, order.id)).refunded_minor == 0
