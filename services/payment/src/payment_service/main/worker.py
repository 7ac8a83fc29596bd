"""Runs jobs."""

import sys

from payment_service.bootstrap import build_processors
from payment_service.settings import PaymentSettings
from service_platform.jobs.worker import run_worker
from service_platform.settings import load


def main() -> None:
    settings = load(PaymentSettings)
    sys.exit(run_worker(settings, build_processors(settings)))


if __name__ == "__main__":
    main()
