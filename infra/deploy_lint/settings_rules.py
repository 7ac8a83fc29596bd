"""What holds for the settings of the services."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from pydantic import SecretStr

from rules import Breach
from service_platform.settings import ServiceSettings

_SECRET_NAME = re.compile(r"(password|secret|token|api_key|private_key)$")


def settings_of(root: Path) -> list[type[ServiceSettings]]:
    """The settings of every service in this tree: the classes that each `settings.py` declares."""
    modules = [
        import_module(f"{file.parent.name}.settings") for file in sorted(root.glob("services/*/src/*/settings.py"))
    ]
    return [
        declared
        for module in modules
        for declared in vars(module).values()
        if isinstance(declared, type)
        and issubclass(declared, ServiceSettings)
        and declared.__module__ == module.__name__
    ]


def settings_breaches(classes: Iterable[type[ServiceSettings]]) -> list[Breach]:
    """Every broken rule of these settings."""
    return [breach for settings in classes for breach in _of(settings)]


def _of(settings: type[ServiceSettings]) -> Iterator[Breach]:
    for name, field in settings.model_fields.items():
        where = f"{settings.__name__}.{name}"
        is_secret = field.annotation is SecretStr or SecretStr in getattr(field.annotation, "__args__", ())
        if _SECRET_NAME.search(name) and not is_secret:
            yield Breach(
                where,
                "a secret that is plain text: it can be logged, and has no NAME_FILE",
                "Make its type SecretStr.",
            )
        if is_secret and isinstance(field.default, SecretStr):
            yield Breach(where, "it has a default that everybody knows", "Give it none: a start without it must fail.")
