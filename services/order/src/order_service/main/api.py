"""The HTTP API."""

from order_service.bootstrap import build_api
from order_service.settings import OrderSettings
from service_platform.http import run_api
from service_platform.settings import load


def main() -> None:
    settings = load(OrderSettings)
    api = build_api(settings)
    run_api(api.app, settings, beside=api.beside)


if __name__ == "__main__":
    main()
