"""The images that the project publishes itself: name to repository and digest, as `images.lock.yaml` says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from native.errors import StackError

UNPUBLISHED = "sha256:" + "0" * 64
"""Stands for a digest until somebody has published the image."""

_REFERENCE = re.compile(r"^[a-z0-9][a-z0-9./:_-]*@sha256:[0-9a-f]{64}$")
_HOW = (
    "Push a tag: .github/workflows/images.yaml publishes the images and hands out this file. Or publish them by hand "
    "and write repository@sha256:<digest>, as `docker buildx imagetools inspect` prints it."
)


@dataclass(frozen=True)
class Lock:
    """`images` maps the name in docker-compose.yaml to `repository@sha256:digest`."""

    images: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Lock:
        """Read the lock. Raises StackError when an entry is no reference by digest."""
        images = yaml.safe_load(path.read_text(encoding="utf-8"))["images"]
        for name, reference in images.items():
            if not _REFERENCE.match(str(reference)):
                raise StackError(f"{path.name}: {name} is {reference}, which names no image by its digest", _HOW)
        return cls(images)

    def reference(self, name: str) -> str:
        """What `name` is deployed as. Raises StackError when the lock does not have it."""
        if name not in self.images:
            raise StackError(f"infra/stack/images.lock.yaml has no {name}", f"Add it. {_HOW}")
        return self.images[name]

    def check_published(self) -> None:
        """Raise StackError while a digest is all zeros: such an image cannot be pulled by anybody."""
        missing = [name for name, reference in self.images.items() if reference.endswith(UNPUBLISHED)]
        if missing:
            raise StackError(f"infra/stack/images.lock.yaml has no digest yet for {', '.join(missing)}", _HOW)
