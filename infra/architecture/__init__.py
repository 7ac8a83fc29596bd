"""The architecture rules that neither a type nor a runtime guard keeps. `make lint` runs them.

Who may import whom stands in `imports.toml`, for import-linter; the shape of the code in the `*_rules.py`, as in
`deploy_lint`: each rule is a function that yields breaches, each breach says what to do instead, and `tests/` plants a
violation of each, and right code that looks like one. docs/architecture-rules.md lists all rules with their reason,
also those that need no check here.
"""

from .all_rules import RULES, architecture_breaches
from .sources import Source, read_sources

__all__ = ["RULES", "Source", "architecture_breaches", "read_sources"]
