"""A capability's texts in English and Vietnamese, complete by construction."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Literal, get_args

Language = Literal["en", "vi"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


class Catalogue:
    """Texts by key, each in every language.

    Made once in a capability's `messages.py`. Placeholders are named, as in `"{currency} is not supported"`. A key or
    a placeholder that one language lacks stops the import: there is no fallback to notice too late.
    """

    def __init__(self, texts: Mapping[str, Mapping[Language, str]]) -> None:
        for key, by_language in texts.items():
            missing = [language for language in LANGUAGES if not by_language.get(language)]
            if missing:
                raise ValueError(f"message {key!r} has no text in {', '.join(missing)}: add it to the catalogue")
            if len({_placeholders(by_language[language]) for language in LANGUAGES}) > 1:
                raise ValueError(f"message {key!r} has different placeholders in its languages: name the same ones")
        self._texts = {key: dict(by_language) for key, by_language in texts.items()}

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def keys(self) -> list[str]:
        """Every key, in the order in which they were written."""
        return list(self._texts)

    def text(self, key: str, language: Language, **values: object) -> str:
        """The text of `key`. Raises KeyError for an unknown key or a placeholder without a value."""
        return self._texts[key][language].format(**values)


def _placeholders(text: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def negotiate(accept_language: str | None) -> Language:
    """The language of the suite that an Accept-Language header (RFC 9110, 12.5.4) likes best; English when none."""
    best: Language = "en"
    best_weight = 0.0
    for entry in (accept_language or "")[:200].split(","):
        tag, _, parameter = entry.partition(";")
        weight = _weight(parameter)
        for language in LANGUAGES:
            if tag.strip().lower().split("-")[0] == language and weight > best_weight:
                best, best_weight = language, weight
    return best


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if name != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
