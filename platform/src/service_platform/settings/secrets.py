"""Secrets by NAME or by NAME_FILE: the second for Docker secrets, the first for a shell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

_LARGEST_SECRET_BYTES = 64 * 1024


@dataclass(frozen=True)
class UnusableSecret:
    """Stands where a secret could not be read. No validator accepts it; `reason` is what the operator is told."""

    reason: str


def is_secret(field: FieldInfo) -> bool:
    """Whether a settings field holds a secret: its type is `SecretStr`, alone or with None."""
    annotation = field.annotation
    return annotation is SecretStr or SecretStr in getattr(annotation, "__args__", ())


class SecretsSource(PydanticBaseSettingsSource):
    """Reads each `SecretStr` field from NAME or from the file that NAME_FILE names.

    Both at once is refused, because one of them would be ignored and nobody would know which. An empty variable
    counts as not set, an empty file as an error.
    """

    def __init__(self, settings_cls: type[BaseSettings], environment: Mapping[str, str] | None = None) -> None:
        super().__init__(settings_cls)
        self._environment = os.environ if environment is None else environment

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        name = field_name.upper()
        value, file = self._environment.get(name), self._environment.get(f"{name}_FILE")
        if value and file:
            return UnusableSecret(f"{name} and {name}_FILE are both set. Keep one of them."), field_name, False
        if file:
            return _read(name, Path(file)), field_name, False
        return value or None, field_name, False

    def __call__(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for field_name, field in self.settings_cls.model_fields.items():
            if is_secret(field):
                value, key, _ = self.get_field_value(field, field_name)
                if value is not None:
                    values[key] = value
        return values


def _read(name: str, path: Path) -> str | UnusableSecret:
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_SECRET_BYTES + 1)
        secret = raw.decode().rstrip("\r\n")
    except OSError as error:
        return UnusableSecret(f"{name}_FILE names {path}, which cannot be read ({error.strerror}). Mount it there.")
    except UnicodeDecodeError:
        return UnusableSecret(f"{name}_FILE names {path}, which is not UTF-8 text.")
    if len(raw) > _LARGEST_SECRET_BYTES:
        return UnusableSecret(f"{name}_FILE names {path}, which is larger than {_LARGEST_SECRET_BYTES} bytes.")
    return secret or UnusableSecret(f"{name}_FILE names {path}, which is empty. Write the secret into it.")
