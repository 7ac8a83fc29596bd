"""What operators do at a terminal: `python -m order_service.main.ops --help`."""

from order_service.settings import OrderSettings
from service_platform.operations import ACTIONS
from service_platform.ops.command import run_command


def main() -> None:
    run_command("python -m order_service.main.ops", OrderSettings, ACTIONS)


if __name__ == "__main__":
    main()
