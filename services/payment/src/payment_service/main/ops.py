"""What operators do at a terminal: `python -m payment_service.main.ops --help`."""

from payment_service.settings import PaymentSettings
from payment_service.ticks import JOB_TICKS
from service_platform.operations import operator_actions
from service_platform.ops.command import run_command


def main() -> None:
    run_command("python -m payment_service.main.ops", PaymentSettings, operator_actions(JOB_TICKS))


if __name__ == "__main__":
    main()
