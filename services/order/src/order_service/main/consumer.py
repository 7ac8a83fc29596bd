"""Handles the events of other services."""

from order_service.bootstrap import build_consumer
from order_service.settings import OrderSettings
from service_platform.process import run_process
from service_platform.settings import load


def main() -> None:
    settings = load(OrderSettings)
    work = build_consumer(settings)
    run_process("consumer", settings, work.body, ready=work.ready)


if __name__ == "__main__":
    main()
