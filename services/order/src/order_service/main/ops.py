"""What operators do at a terminal: `python -m order_service.main.ops --help`."""

from order_service.settings import OrderSettings
from order_service.ticks import JOB_TICKS
from service_platform.operations import operator_actions
from service_platform.ops.command import run_command


def main() -> None:
    run_command("python -m order_service.main.ops", OrderSettings, operator_actions(JOB_TICKS))


if __name__ == "__main__":
    main()
