"""Delivers what was committed: events to Kafka, jobs to Celery."""

from payment_service.settings import PaymentSettings
from service_platform.bootstrap import build_relay
from service_platform.process import run_process
from service_platform.settings import load


def main() -> None:
    settings = load(PaymentSettings)
    work = build_relay(settings)
    run_process("relay", settings, work.body, ready=work.ready)


if __name__ == "__main__":
    main()
