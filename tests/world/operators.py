"""What an operator does about a service, through its HTTP routes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx

from demo.suite import Suite
from demo.tokens import Tokens


class Operators:
    """Calls the operator actions of each service with a token of the scope `ops`."""

    def __init__(self, suite: Suite) -> None:
        self._urls = {"order": suite.order_url, "payment": suite.payment_url, "billing": suite.billing_url}
        self._tokens = Tokens(suite.secrets)

    async def requeue(self, service: str, letter: UUID) -> str:
        """Requeue the dead letter; what was decided: `requeued`, `handled`, or the problem's `type` if refused."""
        answer = await self._ask(service, "POST", f"/ops/dead-letters/{letter}/requeue")
        return str(answer.get("decision", answer.get("type")))

    async def run_tick(self, service: str, name: str) -> str:
        """Have the tick's job run now; the job's id, also when a run was asked for in this minute already."""
        return str((await self._ask(service, "POST", f"/ops/ticks/{name}/run"))["job_id"])

    async def jobs(self, service: str, *, status: str, key: str) -> list[dict[str, Any]]:
        """The jobs in that state with `key` in their keys."""
        answer = await self._ask(service, "GET", "/ops/jobs", status=status, key=key)
        return list(answer["items"])

    async def retry_job(self, service: str, job: UUID) -> str:
        """Retry the job; what was decided, or the problem's `type` if refused."""
        answer = await self._ask(service, "POST", f"/ops/jobs/{job}/retry")
        return str(answer.get("decision", answer.get("type")))

    async def _ask(self, service: str, method: str, path: str, **query: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._tokens.bearer('the scenario', 'ops')}"}
        async with httpx.AsyncClient(base_url=self._urls[service], timeout=30.0, trust_env=False) as http:
            answer: dict[str, Any] = (await http.request(method, path, headers=headers, params=query)).json()
        return answer
