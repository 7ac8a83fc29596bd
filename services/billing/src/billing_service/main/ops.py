"""What operators do at a terminal: `python -m billing_service.main.ops --help`."""

from billing_service.settings import BillingSettings
from billing_service.ticks import JOB_TICKS
from service_platform.operations import operator_actions
from service_platform.ops.command import run_command


def main() -> None:
    run_command("python -m billing_service.main.ops", BillingSettings, operator_actions(JOB_TICKS))


if __name__ == "__main__":
    main()
