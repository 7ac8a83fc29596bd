"""Collects what the judge needs, through public APIs only, after all has settled."""

from collections.abc import Sequence

from demo import views
from demo.clients import Clients, Mailbox
from demo.parallel import in_parallel
from demo.purchases import Purchase
from demo.records import Answer, MailRecord, Records
from demo.run import Run

# Whole mails are fetched one by one; a few at a time keep the mailbox busy without crowding out the suite.
_MAILS_AT_ONCE = 4


async def gather(clients: Clients, run: Run, purchases: Sequence[Purchase], answers: Sequence[Answer]) -> Records:
    """Reads every list to its end, and this run's mails whole.

    Raises:
        Refused, Unanswered: an API did not give its list.
    """
    orders = [order async for order in clients.orders.orders() if run.owns_customer(order.customer_id)]
    payments = [payment async for payment in clients.payments.payments()]
    invoices = [invoice async for invoice in clients.billing.invoices()]
    credit_notes = [note async for note in clients.billing.credit_notes()]
    calls, moves = await clients.ledger.read()
    return Records(
        run=run,
        purchases=purchases,
        answers=answers,
        orders=orders,
        payments=payments,
        calls=calls,
        moves=moves,
        invoices=invoices,
        credit_notes=credit_notes,
        mails=await _mails_of(clients.mailbox, run),
    )


async def _mails_of(mailbox: Mailbox, run: Run) -> list[MailRecord]:
    summaries = [
        summary
        async for summary in mailbox.summaries()
        if any(run.owns_address(address) for address in views.recipients(summary))
    ]
    return await in_parallel(summaries, mailbox.mail, at_once=_MAILS_AT_ONCE)
