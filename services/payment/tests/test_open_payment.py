"""Opening a payment, on a real database."""

from __future__ import annotations

from uuid import uuid4

import pytest
from payment_lab import PaymentLab, open_payment
from sqlalchemy.exc import IntegrityError

from service_platform.inbox import AlreadyHandled


async def test_an_order_opens_one_payment_and_one_job_and_tells_nothing_yet(lab: PaymentLab) -> None:
    order_id = await lab.placed()
    payment = await lab.payment()
    assert (payment["order_id"], payment["status"], payment["amount_minor"]) == (order_id, "created", 1999)
    (job,) = await lab.rows("SELECT job_key, status FROM job")
    assert job == {"job_key": f"capture:{payment['id']}", "status": "pending"}
    assert await lab.told() == []
    assert (await lab.ledger())["calls"] == [], "no call of the provider belongs into the consumer"


async def test_a_free_order_is_settled_at_once_without_provider_or_job(lab: PaymentLab) -> None:
    await lab.placed(total_minor=0)
    payment = await lab.payment()
    assert (payment["status"], payment["intent_id"]) == ("settled", None)
    assert payment["concluded_at"] is not None
    assert await lab.rows("SELECT id FROM job") == []
    assert await lab.told() == ["payment.settled"]
    assert (await lab.ledger())["calls"] == []


@pytest.mark.parametrize("total_minor", [0, 1999])
async def test_a_second_delivery_changes_nothing(lab: PaymentLab, total_minor: int) -> None:
    command = open_payment(uuid4(), total_minor=total_minor)
    await lab.service.open_payment(command)
    told = await lab.told()
    with pytest.raises(AlreadyHandled):
        await lab.service.open_payment(command)
    assert len(await lab.rows("SELECT id FROM payments")) == 1
    assert await lab.told() == told


@pytest.mark.parametrize("total_minor", [0, 1999])
async def test_an_order_that_is_told_twice_under_two_ids_has_one_payment(lab: PaymentLab, total_minor: int) -> None:
    order_id = uuid4()
    await lab.service.open_payment(open_payment(order_id, total_minor=total_minor))
    told, jobs = await lab.told(), await lab.rows("SELECT id FROM job")
    await lab.service.open_payment(open_payment(order_id, total_minor=total_minor))
    assert len(await lab.rows("SELECT id FROM payments")) == 1
    assert (await lab.told(), await lab.rows("SELECT id FROM job")) == (told, jobs)


@pytest.mark.parametrize(
    "changes", [{"total_minor": -1}, {"total_minor": 10**11 + 1}, {"currency": "eur"}, {"payment_method": ""}]
)
async def test_what_the_table_cannot_hold_leaves_no_trace(lab: PaymentLab, changes: dict[str, int | str]) -> None:
    with pytest.raises(IntegrityError):
        await lab.service.open_payment(open_payment(uuid4(), **changes))
    for table in ("payments", "inbox", "job", "outbox"):
        assert await lab.rows(f"SELECT 1 FROM {table}") == [], table
