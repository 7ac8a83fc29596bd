"""`python -m stack`: writes what `docker stack deploy` deploys (infra/stack/README.md)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from native.layout import ROOT
from native.terminal import console, mending

from .images import Lock
from .render import INGRESS, LOCK, OVERLAY, as_text, first_part, render_stack


def main(
    *,
    site: Annotated[list[Path] | None, typer.Option(help="An overlay of your own, laid over the project's.")] = None,
    lock: Annotated[Path, typer.Option(help="Where the own images are.")] = LOCK,
    into: Annotated[Path, typer.Option(help="The folder to write.")] = ROOT / ".fencepost" / "stack",
) -> None:
    """Write stack.yaml, its first part and the ingress's configuration into a folder to take to a manager node."""
    with mending():
        images = Lock.read(lock)
        images.check_published()
        stack = render_stack(images, overlays=(OVERLAY, *(site or [])))
        into.mkdir(parents=True, exist_ok=True)
        shutil.copy(INGRESS, into / INGRESS.name)
        for name, part in (("first.yaml", first_part(stack)), ("stack.yaml", stack)):
            (into / name).write_text(as_text(part), encoding="utf-8")
            console.print(f"wrote {into / name}", soft_wrap=True)
        console.print("Deploy first.yaml, then stack.yaml: infra/stack/README.md", soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
