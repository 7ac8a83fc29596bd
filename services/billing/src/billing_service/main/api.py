"""The HTTP API."""

from billing_service.bootstrap import build_api
from billing_service.settings import BillingSettings
from service_platform.http import run_api
from service_platform.settings import load


def main() -> None:
    settings = load(BillingSettings)
    run_api(build_api(settings), settings)


if __name__ == "__main__":
    main()
