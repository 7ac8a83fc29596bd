"""`python -m deploy_lint`: check what deploys the suite; exits 1 and says what to mend when a rule is broken."""

from __future__ import annotations

import yaml

from native.layout import ROOT
from rules import finish
from stack import Lock, render_stack
from stack.render import LOCK

from . import (
    ci_breaches,
    compose_breaches,
    dockerfile_breaches,
    settings_breaches,
    settings_of,
    source_breaches,
    stack_breaches,
)


def main() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yaml").read_text(encoding="utf-8"))
    paths = [*ROOT.glob("services/*/Dockerfile"), *ROOT.glob("infra/**/Dockerfile")]
    dockerfiles = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(paths)}
    lock = Lock.read(LOCK)  # zeros are well here: nobody has published yet
    breaches = [
        *compose_breaches(compose),
        *dockerfile_breaches(dockerfiles),
        *stack_breaches(render_stack(lock), lock),
        *source_breaches(),
        *ci_breaches(),
        *settings_breaches(settings_of(ROOT)),
    ]
    finish(breaches, about="deploying")


if __name__ == "__main__":
    main()
