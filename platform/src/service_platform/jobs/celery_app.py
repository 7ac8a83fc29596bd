"""Celery as this project uses it: one task, one queue a service, no result backend."""

from __future__ import annotations

from typing import Final

from celery import Celery
from kombu.entity import Exchange, Queue

from .broker import Broker

RUN_TASK: Final = "jobs.run"


def celery_app(broker: Broker) -> Celery:
    """A Celery application for `broker`, not yet connected.

    Everything of it in Redis (queue, bindings, un-acked messages and their index) lies under the service's own
    prefix. There is no result backend: the job row says what became of a job.
    """
    app = Celery(broker.service, broker=broker.url, set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        # Acknowledged when the run is over. A killed child's message is not put back: its job is leased, so it would
        # find nothing to claim; the lease runs out and the sweep sends it.
        task_acks_late=True,
        task_acks_on_failure_or_timeout=True,
        task_reject_on_worker_lost=False,
        worker_prefetch_multiplier=1,
        task_queues=[_queue(broker.queue)],
        task_default_queue=broker.queue,
        task_create_missing_queues=False,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_channel_error_retry=True,
        broker_connection_timeout=4.0,
        # Work goes on while the broker is away; its message comes back and claims nothing.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_enable_prefetch_count_reduction=False,
        broker_transport_options={
            "global_keyprefix": f"{broker.service}:",
            "visibility_timeout": broker.visibility_timeout_seconds,
            "priority_steps": [0],
            "socket_timeout": 5.0,
            "socket_connect_timeout": 4.0,
            "socket_keepalive": True,
            "health_check_interval": 5,
        },
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        task_send_sent_event=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_proc_alive_timeout=60.0,
        enable_utc=True,
        timezone="UTC",
    )
    return app


def _queue(name: str) -> Queue:
    """A queue that is reached by its name alone: there is no binding that an emptied Redis could forget."""
    nameless = Exchange("", type="direct")  # type: ignore[no-untyped-call] # kombu is typed in part
    return Queue(name, nameless, routing_key=name)  # type: ignore[no-untyped-call]
