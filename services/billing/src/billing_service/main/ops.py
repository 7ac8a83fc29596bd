"""What operators do at a terminal: `python -m billing_service.main.ops --help`."""

from billing_service.settings import BillingSettings
from service_platform.operations import ACTIONS
from service_platform.ops.command import run_command


def main() -> None:
    run_command("python -m billing_service.main.ops", BillingSettings, ACTIONS)


if __name__ == "__main__":
    main()
