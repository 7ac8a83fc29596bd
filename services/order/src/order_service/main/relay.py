"""Delivers what was committed: events to Kafka, jobs to Celery."""

from order_service.settings import OrderSettings
from service_platform.bootstrap import build_relay
from service_platform.process import run_process
from service_platform.settings import load


def main() -> None:
    settings = load(OrderSettings)
    work = build_relay(settings)
    run_process("relay", settings, work.body, ready=work.ready)


if __name__ == "__main__":
    main()
