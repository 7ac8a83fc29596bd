"""The composition root: every part is made here and nowhere else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException

from provider_double.adjustments import Adjustments
from provider_double.connections import Connections
from provider_double.control import control_router
from provider_double.deliveries import Deliverer
from provider_double.desk import Desk
from provider_double.events import Events
from provider_double.faults import Faults
from provider_double.intents import PaymentIntents
from provider_double.ledger import Ledger
from provider_double.refunds import Refunds
from provider_double.settings import Settings
from provider_double.store import Store
from provider_double.stripe_api import StripeApi


def create_app(settings: Settings, connections: Connections, faults: Faults) -> FastAPI:
    """The whole double. `connections` and `faults` come from outside because the server has to reach them too."""
    store = Store(settings.state_dir)
    adjustments = Adjustments(store)
    ledger = Ledger(store)
    events = Events(store, enabled=bool(settings.webhook_url))
    deliverer = Deliverer(store, adjustments, settings.webhook_url, settings.webhook_secret)
    api = StripeApi(
        api_key=settings.api_key,
        desk=Desk(store, adjustments, ledger, faults),
        connections=connections,
        intents=PaymentIntents(store, adjustments, ledger, events),
        refunds=Refunds(store, adjustments, ledger, events),
        answered=deliverer.wake,
    )
    delivering: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        delivering.append(asyncio.create_task(deliverer.run(), name="webhook-deliverer"))
        try:
            yield
        finally:
            task = delivering.pop()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            store.close()

    app = FastAPI(title="Provider double", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.router.routes.extend(api.routes())
    app.include_router(
        control_router(
            store=store, adjustments=adjustments, ledger=ledger, faults=faults, events=events, deliverer=deliverer
        )
    )

    @app.get("/health/ready")
    async def ready() -> dict[str, str]:
        if not delivering or delivering[0].done():
            raise HTTPException(503, "the webhook deliverer has stopped; see the log")
        store.connection.execute("select 1 from calls limit 1")
        return {"status": "ready"}

    return app
