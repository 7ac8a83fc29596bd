"""Plays real purchases through the public API, waits until all has settled, and has the result judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from demo.clients import Clients
from demo.disagreement import Disagreement
from demo.evidence import gather
from demo.parallel import in_parallel
from demo.patience import Refused
from demo.purchases import Purchase
from demo.reconcile import reconcile
from demo.records import Answer, Records
from demo.run import Run
from demo.settlement import Settlement, StoodStill
from demo.suite import Suite
from demo.timing import Timing, time_run

# Both are meant to outlast the restart of any process, broker and database included, and to end by themselves.
PATIENCE = 120.0
STANDSTILL = 120.0
LOOK_EVERY = 1.0


class Progress(Protocol):
    """Told how far a phase has come; the phases follow each other and each ends with `done == total`."""

    def __call__(self, phase: str, done: int, total: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: the records seen, what in them disagrees, how long it took, and why it did not end."""

    records: Records
    disagreements: Sequence[Disagreement]
    timing: Timing
    stood_still: str | None

    @property
    def agrees(self) -> bool:
        return not self.disagreements and self.stood_still is None


def quietly(phase: str, done: int, total: int) -> None:
    """The `Progress` of who does not watch."""


class Replay:
    """One run over the given purchases; the same `run` again repeats the same requests and so places nothing new.

    `concurrency` bounds the orders in flight. `patience` is how many seconds an API may give no usable answer before it
    counts as down, `standstill` how many may pass without any order getting further, and `look_every` how many lie at
    least between two looks at that.
    """

    def __init__(
        self,
        suite: Suite,
        purchases: Sequence[Purchase],
        *,
        run: Run | None = None,
        concurrency: int = 16,
        patience: float = PATIENCE,
        standstill: float = STANDSTILL,
        look_every: float = LOOK_EVERY,
        progress: Progress = quietly,
    ) -> None:
        self.run_identity = run or Run()
        self._suite = suite
        self._purchases = tuple(purchases)
        self._concurrency = concurrency
        self._patience = patience
        self._standstill = standstill
        self._look_every = look_every
        self._progress = progress

    async def play(self) -> Outcome:
        """Posts, waits and judges.

        Raises:
            NoSigningKey: the suite was never up.
            Unanswered: an API gave no usable answer for `patience` seconds.
            Refused: a list could not be read; a refused order is no error here but a disagreement.
        """
        async with Clients(self._suite, patience=self._patience, connections=self._concurrency) as clients:
            started_at = datetime.now(UTC)
            answers = await self._post_all(clients)
            posted_at = datetime.now(UTC)
            stood_still = await self._settle(clients, answers)
            self._progress("reading what the suite, the provider and the mailbox say", 0, 1)
            records = await gather(clients, self.run_identity, self._purchases, answers)
            self._progress("reading what the suite, the provider and the mailbox say", 1, 1)
        return Outcome(records, reconcile(records), time_run(records, started_at, posted_at), stood_still)

    async def _post_all(self, clients: Clients) -> list[Answer]:
        run, total, done = self.run_identity, len(self._purchases), 0

        async def post(purchase: Purchase) -> Answer:
            nonlocal done
            posted_at = datetime.now(UTC)
            order_id, refusal = None, None
            try:
                view = await clients.orders.place(
                    run.customer_id(purchase), run.order_body(purchase), run.idempotency_key(purchase)
                )
                order_id = view["id"]
            except Refused as refused:
                refusal = str(refused)
            done += 1
            self._progress("placing orders", done, total)
            return Answer(purchase.line, posted_at, order_id, refusal)

        return await in_parallel(self._purchases, post, at_once=self._concurrency)

    async def _settle(self, clients: Clients, answers: Sequence[Answer]) -> str | None:
        placed = [answer.order_id for answer in answers if answer.order_id is not None]
        settlement = Settlement(clients, placed, look_every=self._look_every)
        try:
            await settlement.wait(
                standstill=self._standstill,
                report=lambda done, total: self._progress("waiting for payments, invoices and mails", done, total),
            )
        except StoodStill as still:
            return str(still)
        return None
