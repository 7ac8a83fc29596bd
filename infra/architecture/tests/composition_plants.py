"""Violations of the rules for what a service is made of: by rule, as somebody who copies the suite would make them."""

from __future__ import annotations

from architecture.tests.planting import BILLING, ORDERS, PAYMENTS, PLATFORM, Plant

COMPOSITION_PLANTS: dict[str, list[Plant]] = {
    "settings_have_one_place": [
        Plant(
            f"{ORDERS}/domain/orders/limits.py",
            "from typing import Final\n",
            'import os\nfrom typing import Final\n\nMOST_OPEN = int(os.environ.get("MOST_OPEN", "10"))\n',
            "it reads the environment by environ",
        ),
        Plant(f"{PLATFORM}/pacing/waiting.py", "import random", "from os import getenv", "by getenv"),
        Plant(
            f"{BILLING}/integrations/mail_settings.py",
            "",
            "from pydantic_settings import BaseSettings\n\n\nclass MailSettings(BaseSettings):\n    host: str\n",
            "MailSettings is a second settings object",
        ),
    ],
    "nothing_is_built_at_import": [
        Plant(f"{ORDERS}/settings.py", "", "\n\nsettings = OrderSettings()\n", "OrderSettings() is built at import"),
        Plant(f"{ORDERS}/events/bus.py", "", 'bus: Final = EventBus("order")\n', "EventBus() is built at import"),
        Plant(f"{BILLING}/integrations/rates.py", "", "_http = httpx.AsyncClient()\n", "AsyncClient() is built"),
    ],
    "every_door_is_composed": [
        Plant(
            f"{ORDERS}/reactors/count_paid.py",
            "",
            "class CountPaid(Consumer[PaymentSettled]):\n    async def handle(self, delivery: object) -> None: ...\n",
            "CountPaid is not composed",
        ),
        Plant(f"{BILLING}/jobs/remind.py", "", "class Remind(FencedProcessor[RemindPayload]): ...\n", "Remind is not"),
        Plant(f"{ORDERS}/api/stats.py", "", "def stats_router() -> object: ...\n", "Name it in bootstrap.py"),
    ],
    "a_domain_service_opens_and_ends_the_transaction": [
        Plant(
            f"{ORDERS}/domain/orders/order_table.py",
            "        await self.append(order_id, placed, tx)\n",
            "        await self.append(order_id, placed, tx)\n        await tx.session.commit()\n",
            "a commit by hand",
        ),
        Plant(
            f"{PAYMENTS}/domain/payments/payment_table.py",
            "        return moved or await self._expect(payment_id, tx)\n",
            "        async with self._database.transaction() as tx:\n"
            "            return moved or await self._expect(payment_id, tx)\n",
            "transaction() outside of a domain service",
        ),
        Plant(
            f"{BILLING}/integrations/archive.py",
            "",
            "class Archive:\n    async def keep(self) -> None:\n"
            "        async with self._database.transaction() as tx:\n            await tx.session.execute(KEEP)\n",
            "transaction() outside of a domain service",
        ),
    ],
    "an_adapter_refuses_a_transaction": [
        Plant(
            f"{BILLING}/integrations/mail.py",
            '        forbid_in_transaction("mailbox: look for a mail")\n',
            "",
            "SmtpMailer.took may be called inside a transaction",
        ),
        Plant(
            f"{PAYMENTS}/integrations/card_provider.py",
            '        async with _call("retrieve a refund"):\n            return',
            "        return",
            "StripeCardProvider.retrieve_refund may be called inside",
        ),
        Plant(
            f"{BILLING}/integrations/rates.py",
            "",
            "class HttpRates:\n    async def rate(self, currency: str) -> str:\n"
            "        return str(await self._http.get(currency))\n",
            "HttpRates.rate may be called inside",
        ),
    ],
}
