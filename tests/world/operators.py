"""What an operator does about a service, through its HTTP routes."""

from __future__ import annotations

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
        answer = (await self._post(service, f"/ops/dead-letters/{letter}/requeue")).json()
        return str(answer.get("decision", answer.get("type")))

    async def run_tick(self, service: str, name: str) -> str:
        """Have the tick's job run now; the job's id, also when a run was asked for in this minute already."""
        return str((await self._post(service, f"/ops/ticks/{name}/run")).json()["job_id"])

    async def _post(self, service: str, path: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._tokens.bearer('the scenario', 'ops')}"}
        async with httpx.AsyncClient(base_url=self._urls[service], timeout=30.0, trust_env=False) as http:
            return await http.post(path, headers=headers)
