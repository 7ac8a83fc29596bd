"""Every named guarantee, with the fact that its scenario proves.

A test claims one by `@pytest.mark.scenario("<group>/<name>")`. A name that does not stand here, and a name that two
tests claim, fail the collection.
"""

from __future__ import annotations

CATALOGUE: dict[str, str] = {
    "event-bus/atomic-with-transaction": "the outbox row exists exactly when the domain change commits",
    "event-bus/relay-only-after-commit": "nothing is published for a rolled-back transaction",
    "event-bus/redelivery-then-dead-letter": "a failing consumer is retried with backoff, then buried",
    "event-bus/duplicate-delivery-is-a-noop": "a redelivered event changes nothing twice",
    "event-bus/commit-order-kept": "events of one key go out in commit order, and none of a gap is skipped",
    "event-bus/order-survives-retry": "events behind a retried one take effect after it; other keys do not wait",
    "event-bus/order-kept-across-relays": "relays killed, stopped and resumed keep the order of each key",
    "event-bus/broker-outage-loses-nothing": "Kafka away for longer than every budget: all is sent after it",
    "event-bus/relay-killed-mid-batch": "kill -9 of a relay in mid-batch: nothing lost, one effect each",
    "event-bus/consumer-killed-mid-effect": "kill -9 between effect and offset: one effect",
    "event-bus/unparsable-is-buried": "bytes that nobody can parse are kept, and the partition flows",
    "event-bus/unsendable-holds-its-aggregate-only": "a row that Kafka refuses holds back its own key only",
    "event-bus/requeue-runs-once": "a requeued dead letter takes effect once, or not at all if it had already",
    "fenced-job/claim-bumps-token": "each claim returns the previous token plus one",
    "fenced-job/zombie-fenced-out": "a resumed worker whose job was taken over gets no further call or write through",
    "fenced-job/redispatch-isolated": "the effects of a second run carry a key of their own",
    "fenced-job/lease-renewed-while-working": "a long call keeps its lease; SIGSTOP loses it",
    "fenced-job/poison-job-dies": "a job that kills its worker is dead after its limit",
    "fenced-job/one-capture-at-every-crash-point": "one capture and one refund, wherever the worker crashes",
    "fenced-job/broker-loss-loses-no-job": "Redis emptied, killed or restarted: every job runs, none twice",
    "fenced-job/cancel-races-capture": "never captured, or captured once and refunded once",
    "tick/one-winner-a-minute": "three replicas, one job a minute, through stops and kills",
    "tick/missed-minute-policy": "minutes that no replica saw are treated as the tick's policy says",
    "tick/failed-firing-does-not-stop-the-next": "a firing that fails is logged and the next one runs",
    "suite/order-to-invoice": "one order becomes one capture, one invoice, one mail",
    "suite/free-order": "a total of zero makes no provider call and is invoiced and mailed",
    "suite/idempotent-post": "the same key twice, at once and later, makes one order",
    "suite/declined-card": "the order is declined, its intent cancelled, nothing captured",
    "suite/cancel-before-payment": "an order cancelled before payment moves no money",
    "suite/refund-issues-credit-note": "refunds never exceed the capture, a credit note each",
    "suite/settled-before-placed": "in either order, and at the same instant: one invoice",
    "suite/duplicate-webhook": "webhooks twice, out of order or for an orphan intent: a check and no more",
    "suite/replay-reconciles": "real purchases agree to the cent at the end",
}
