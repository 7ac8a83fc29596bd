"""The HTTP API."""

from payment_service.bootstrap import build_api
from payment_service.settings import PaymentSettings
from service_platform.http import run_api
from service_platform.settings import load


def main() -> None:
    settings = load(PaymentSettings)
    api = build_api(settings)
    run_api(api.app, settings, beside=api.beside)


if __name__ == "__main__":
    main()
