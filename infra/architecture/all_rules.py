"""All rules for the shape of the code, in the order of docs/architecture-rules.md."""

from __future__ import annotations

from typing import Final

from rules import Breach

from . import (
    background_rules,
    claim_rules,
    client_rules,
    composition_rules,
    domain_rules,
    door_rules,
    surface_rules,
    table_rules,
)
from .sources import Rule, Sources

RULES: Final[tuple[Rule, ...]] = (
    *surface_rules.RULES,
    *table_rules.RULES,
    *client_rules.RULES,
    *composition_rules.RULES,
    *domain_rules.RULES,
    *claim_rules.RULES,
    *door_rules.RULES,
    *background_rules.RULES,
)


def architecture_breaches(sources: Sources) -> list[Breach]:
    """Every broken rule of these sources."""
    return [breach for rule in RULES for breach in rule(sources)]
