"""`python -m service_platform.contracts`: the contracts of one service, also where it lives without the others.

    python -m service_platform.contracts check order --contracts contracts
    python -m service_platform.contracts write order --contracts contracts

Both compare with git's main line, or with `--base`: a revision, or a folder of contracts as they were.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import NoSuchBase, UnreadableContract, breaches, contracts_now, find_base, refusals, write


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m service_platform.contracts", description=__doc__)
    parser.add_argument("action", choices=("check", "write"))
    parser.add_argument("service", help="its name: order")
    parser.add_argument("--contracts", type=Path, default=Path("contracts"), help="the folder of contracts")
    parser.add_argument("--base", default=os.environ.get("CONTRACTS_BASE", ""), help="a git revision or a folder")
    asked = parser.parse_args()
    try:
        return _run(asked.action, asked.service, asked.contracts.resolve(), asked.base)
    except (NoSuchBase, UnreadableContract) as error:
        print(error, file=sys.stderr)
        return 2


def _run(action: str, service: str, folder: Path, asked: str) -> int:
    base = find_base(folder, {service: contracts_now(service, folder)}, asked)
    print(f"compared with {base.origin}")
    found = refusals(service, folder, base) if action == "write" else breaches(service, folder, base)
    for breach in found:
        print(breach, file=sys.stderr)
    if not found and action == "write":
        path = write(service, folder)
        print(f"written: {path.relative_to(folder.parent)}" if path else "nothing to write")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
