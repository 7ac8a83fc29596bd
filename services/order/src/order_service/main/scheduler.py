"""Fires the ticks, and sends again what a broker or a worker lost."""

from order_service.settings import OrderSettings
from order_service.ticks import JOB_TICKS
from service_platform.bootstrap import build_scheduler
from service_platform.process import run_process
from service_platform.settings import load


def main() -> None:
    settings = load(OrderSettings)
    work = build_scheduler(settings, JOB_TICKS)
    run_process("scheduler", settings, work.body, ready=work.ready)


if __name__ == "__main__":
    main()
