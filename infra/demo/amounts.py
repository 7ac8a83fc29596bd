"""US dollars for people: the replay has no other currency."""

import re


def dollars(cents: int) -> str:
    """2933 as "29.33", 24409194 as "244,091.94"."""
    return f"{cents // 100:,}.{cents % 100:02d}"


def names_amount(text: str, cents: int) -> bool:
    """Whether the text names exactly this amount, as a number of its own: "29.33" is not found in "129.33"."""
    return re.search(rf"(?<![\d.,]){re.escape(dollars(cents))}(?![\d]|[.,]\d)", text) is not None
