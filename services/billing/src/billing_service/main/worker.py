"""Runs jobs."""

import sys

from billing_service.bootstrap import build_processors
from billing_service.settings import BillingSettings
from service_platform.jobs.worker import run_worker
from service_platform.settings import load


def main() -> None:
    settings = load(BillingSettings)
    sys.exit(run_worker(settings, build_processors(settings)))


if __name__ == "__main__":
    main()
