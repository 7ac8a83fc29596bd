"""Stand-ins for unit tests of domain services: seconds, no stack. What needs SQL or Kafka is tested on the real ones.

The pattern. A capability keeps its SQL in one table class (`OrderTable`), whose methods take the transaction; its
service gets everything it works with through its constructor and decides. A unit test then gives it

- `FakeDatabase()` for the database: it opens transactions, refuses nested ones, knows what committed;
- a subclass of the table class that keeps rows in a dict, written in the test;
- `RecordingEventBus("order")` for the bus: `published` holds the events of committed transactions only;
- an async function that notes its arguments for each `enqueue_<kind>` the service takes;
- `IdempotencyClaim(subject=…, operation=…, key=…, fingerprint=b"")` as it is: the fake database does not acquire
  claims, and its answer is written nowhere.

    orders = OrderService(FakeDatabase(), RecordingEventBus("order"), InMemoryOrders())
    await orders.place(PlaceOrder(…))
    assert bus.published_of(OrderPlaced)[0].total_minor == 1200
"""

from .clock import FakeClock
from .database import FakeDatabase, FakeTransaction
from .event_bus import RecordingEventBus

__all__ = ["FakeClock", "FakeDatabase", "FakeTransaction", "RecordingEventBus"]
