"""The capture job in memory: claims, steps, settles, as the platform's processor does."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from payment_doubles import (
    ConnectionLost,
    InMemoryDatabase,
    InMemoryEventBus,
    InMemoryFence,
    InMemoryPayments,
    Run,
    State,
)
from payment_provider_double import InMemoryProvider

from payment_service.domain.payments import (
    AnswerPending,
    CloseIntent,
    ConfirmIntent,
    CreateIntent,
    PaymentService,
    ProviderUnavailable,
    Transitions,
)
from payment_service.domain.payments.models import Payment
from service_platform.jobs import JobFencedOut, RunKey
from service_platform.jobs.run import CLAIMED
from world.crashing import reach, running

STEPS = ("create-intent", "confirm-intent", "close-intent")
AMOUNT_MINOR = 1999


class CaptureWorld:
    """One payment of 19.99 EUR with its capture job enqueued."""

    def __init__(self, *, declines: int = 0) -> None:
        self.database = InMemoryDatabase()
        self.provider = InMemoryProvider(declines=declines)
        self.table = InMemoryPayments()
        database: Any = self.database
        table: Any = self.table
        bus: Any = InMemoryEventBus()
        no_refunds: Any = None  # no capture reserves one, unless its order is cancelled
        self.service = PaymentService(database, table, self.provider, Transitions(table, no_refunds, bus))
        self.job_id = uuid4()
        self.payment_id: UUID = uuid4()

    async def open(self) -> None:
        async with self.database.transaction() as tx:
            await self.table.insert(
                self.payment_id,
                order_id=uuid4(),
                amount_minor=AMOUNT_MINOR,
                currency="EUR",
                payment_method="pm_card_visa",
                settled=False,
                tx=tx,
            )

    @property
    def state(self) -> State:
        return self.database.state

    @property
    def payment(self) -> Payment:
        return self.state.payments[self.payment_id]

    async def deliver(self, run: Run | None = None) -> None:
        """One delivery of the job: claim, steps from the current one, complete. Errors end it as a failed run."""
        run = run or Run()
        with running(run):
            if self.state.job.done:
                return
            token = self.database.take_over()
            await reach("claimed")
            try:
                await self._take_steps(token)
                self._complete(token)
            except (AnswerPending, ProviderUnavailable, JobFencedOut, ConnectionLost):
                return

    async def deliver_until_done(self, limit: int = 5) -> None:
        for _ in range(limit):
            await self.deliver()
        assert self.state.job.done, f"the job is not done after {limit} undisturbed runs: {self.payment}"

    async def _take_steps(self, token: int) -> None:
        first = STEPS.index(self.state.job.step) if self.state.job.step else 0
        for step in STEPS[first:]:
            fence: Any = InMemoryFence(step, token)
            run_key = RunKey(CLAIMED, job_id=self.job_id, step=step, token=token)
            match step:
                case "create-intent":
                    await self.service.create_intent(
                        CreateIntent(fence=fence, run_key=run_key, payment_id=self.payment_id)
                    )
                case "confirm-intent":
                    await self.service.confirm_intent(
                        ConfirmIntent(fence=fence, run_key=run_key, payment_id=self.payment_id)
                    )
                case _:
                    await self.service.close_intent(
                        CloseIntent(fence=fence, run_key=run_key, payment_id=self.payment_id)
                    )

    def _complete(self, token: int) -> None:
        if self.state.job.token == token:
            self.state.job.done = True
