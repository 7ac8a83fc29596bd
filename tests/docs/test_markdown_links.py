"""The pages name files that are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")


def test_every_relative_link_in_every_page_leads_to_a_file() -> None:
    pages = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [ROOT / name for name in pages.stdout.split()]
    assert paths
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in paths
        for target in _LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []
