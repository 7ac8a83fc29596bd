"""Handles the events of other services."""

from billing_service.bootstrap import build_consumer
from billing_service.settings import BillingSettings
from service_platform.process import run_process
from service_platform.settings import load


def main() -> None:
    settings = load(BillingSettings)
    work = build_consumer(settings)
    run_process("consumer", settings, work.body, ready=work.ready)


if __name__ == "__main__":
    main()
