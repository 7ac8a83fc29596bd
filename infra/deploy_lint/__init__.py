"""Rules for what deploys the suite: compose file, stack, Dockerfiles, settings, CI. `make lint` runs them.

Each rule is a function that yields breaches, and each breach says what to do instead. A rule is listed once, in
`RULES` of its module; its planted violation stands in `tests/`.
"""

from .ci_rules import ci_breaches
from .compose_rules import compose_breaches
from .connections import source_breaches
from .dockerfile_rules import dockerfile_breaches
from .settings_rules import settings_breaches, settings_of
from .stack_rules import stack_breaches

__all__ = [
    "ci_breaches",
    "compose_breaches",
    "dockerfile_breaches",
    "settings_breaches",
    "settings_of",
    "source_breaches",
    "stack_breaches",
]
