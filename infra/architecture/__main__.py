"""`python -m architecture`: check the shape of the code; exits 1 and says what to mend when a rule is broken."""

from __future__ import annotations

from native.layout import ROOT
from rules import finish
from world.catalogue import CATALOGUE

from . import architecture_breaches, read_sources
from .pattern_rules import declared_patterns, pattern_breaches, text_of_tests


def main() -> None:
    breaches = [
        *architecture_breaches(read_sources(ROOT)),
        *pattern_breaches(declared_patterns(ROOT), CATALOGUE, text_of_tests(ROOT)),
    ]
    finish(breaches, about="the architecture")


if __name__ == "__main__":
    main()
