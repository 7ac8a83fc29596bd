"""One order followed through a fake suite, and told where it stopped."""

import pytest

from demo.journey import HopMissing, travel
from demo.suite import Suite
from demo.tests.fake_suite import FakeSuite


async def test_each_hop_shows_in_its_order_with_its_time(running: Suite, fake: FakeSuite) -> None:
    journey = await travel(running, deadline=10)
    assert [hop.name for hop in journey.hops] == [
        "order placed",
        "payment captured",
        "order paid",
        "invoice issued",
        "PDF rendered",
        "mail received",
    ]
    assert fake.orders[0]["id"] == journey.order_id
    seen = [hop.seen for hop in journey.hops]
    assert seen == sorted(seen)
    assert all(0 < hop.happened <= hop.seen for hop in journey.hops)
    assert journey.hops[-1].url.startswith(running.mail_url)


@pytest.mark.parametrize(
    ("steps", "hop", "process"), [(0, "payment captured", "payment-worker"), (1, "invoice issued", "billing-consumer")]
)
async def test_a_hop_that_does_not_show_is_named_with_the_logs_to_read(
    running: Suite, fake: FakeSuite, steps: int, hop: str, process: str
) -> None:
    fake.steps = steps
    with pytest.raises(HopMissing) as stuck:
        await travel(running, deadline=0.5)
    assert f'"{hop}" did not show' in str(stuck.value)
    assert f"make logs S={process}" in str(stuck.value)
    assert fake.orders[0]["id"] in str(stuck.value)
