"""The composition root: every part is made here and nowhere else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException
from fastapi.responses import HTMLResponse

from mail_catcher import page
from mail_catcher.api import api_router
from mail_catcher.faults import FaultRule, Faults
from mail_catcher.mailbox import Mailbox
from mail_catcher.receiver import Receiver
from mail_catcher.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """The HTTP side, whose lifespan opens and closes the SMTP side. A taken SMTP port fails the start."""
    mailbox = Mailbox(settings.state_dir)
    faults = Faults()
    receiver = Receiver(mailbox, faults)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        smtp = await loop.create_server(receiver.protocol, settings.host, settings.smtp_port)
        try:
            yield
        finally:
            smtp.close()
            mailbox.close()

    app = FastAPI(title="Mail catcher", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.include_router(api_router(mailbox))

    @app.get("/health/ready")
    @app.get("/readyz")
    async def ready() -> dict[str, Any]:
        """Ready means that SMTP listens too: the start fails where it cannot. `/readyz` is Mailpit's name for it."""
        return {"status": "ready", "mails": mailbox.count([])}

    @app.get("/")
    async def inbox() -> HTMLResponse:
        return HTMLResponse(page.inbox(mailbox.summaries(0, page.SHOWN, []), mailbox.count([])))

    @app.get("/view/{identifier}")
    async def view(identifier: str) -> HTMLResponse:
        message = mailbox.view(identifier)
        if message is None:
            raise HTTPException(404, "no such message")
        return HTMLResponse(page.mail(message))

    @app.post("/_double/faults", status_code=201)
    async def add_fault(rule: FaultRule) -> FaultRule:
        faults.add(rule)
        return rule

    @app.get("/_double/faults")
    async def list_faults() -> list[FaultRule]:
        """The rules that still wait for mails."""
        return faults.rules()

    @app.delete("/_double/faults")
    async def clear_faults() -> dict[str, str]:
        faults.clear()
        return {"status": "cleared"}

    return app
