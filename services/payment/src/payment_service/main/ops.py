"""What operators do at a terminal: `python -m payment_service.main.ops --help`."""

from payment_service.bootstrap import open_reviews
from payment_service.operations import ACTIONS
from payment_service.settings import PaymentSettings
from service_platform.ops.command import run_command


def main() -> None:
    run_command("python -m payment_service.main.ops", PaymentSettings, ACTIONS, outside=open_reviews)


if __name__ == "__main__":
    main()
