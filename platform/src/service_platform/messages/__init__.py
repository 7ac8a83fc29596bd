"""Texts that people read, by key, in every language of the suite."""

from .catalogue import LANGUAGES, Catalogue, Language, negotiate

__all__ = ["LANGUAGES", "Catalogue", "Language", "negotiate"]
