"""Runs jobs."""

import sys

from order_service.bootstrap import build_processors
from order_service.settings import OrderSettings
from service_platform.jobs.worker import run_worker
from service_platform.settings import load


def main() -> None:
    settings = load(OrderSettings)
    sys.exit(run_worker(settings, build_processors(settings)))


if __name__ == "__main__":
    main()
