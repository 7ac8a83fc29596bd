"""`python -m contract_writer`: write the contracts of the suite anew, or check them.

Both compare the events with git's main line, or with `--base`: a revision, or a folder of contracts as they were.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from service_platform.contracts import NoSuchBase, UnreadableContract, find_base

from .asyncapi import UndeclaredTopic
from .asyncapi_file import InvalidAsyncApi
from .suite import FOLDER, breaches, contracts_now, refusals, write


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m contract_writer", description=__doc__)
    parser.add_argument("action", choices=("check", "write"))
    parser.add_argument("--contracts", type=Path, default=FOLDER, help="the folder of contracts")
    parser.add_argument("--base", default="", help="a git revision or a folder")
    asked = parser.parse_args()
    try:
        return _run(asked.action, asked.contracts.resolve(), asked.base)
    except (InvalidAsyncApi, NoSuchBase, UndeclaredTopic, UnreadableContract) as error:
        print(error, file=sys.stderr)
        return 2


def _run(action: str, folder: Path, asked: str) -> int:
    base = find_base(folder, contracts_now(folder), asked)
    print(f"contracts compared with {base.origin}")
    found = refusals(folder, base) if action == "write" else breaches(folder, base)
    for breach in found:
        print(breach, file=sys.stderr)
    if found:
        return 1
    if action == "write":
        for path in write(folder):
            print(f"written: {path.relative_to(folder.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
