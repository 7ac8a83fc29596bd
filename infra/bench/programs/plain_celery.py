"""Celery without a fence: acks late, no results, prefork. Imported by the worker; run, it enqueues.

The task notes that it ran, in one write to a file, which is all that it does.
"""

from __future__ import annotations

import asyncio
import os
import time

from celery import Celery

from bench import enqueuing

app = Celery("plain_celery", broker=os.environ["BROKER"])
app.conf.update(
    task_acks_late=True,
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"global_keyprefix": "plain:"},
    worker_send_task_events=False,
    task_send_sent_event=False,
)
_notes = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND)


@app.task(name="note")
def note(number: int) -> None:
    os.write(_notes, f"{number} {time.time()}\n".encode())


async def enqueue(number: int) -> None:
    note.delay(number)


if __name__ == "__main__":
    asyncio.run(enqueuing.serve(enqueue))
