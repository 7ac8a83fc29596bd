"""`python -m architecture`: check the shape of the code; exits 1 and says what to mend when a rule is broken."""

from __future__ import annotations

from native.layout import ROOT
from rules import finish

from . import architecture_breaches, read_sources


def main() -> None:
    finish(architecture_breaches(read_sources(ROOT)), about="the architecture")


if __name__ == "__main__":
    main()
