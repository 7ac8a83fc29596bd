"""Every text of billing is asked for somewhere, in both languages, and none that is asked for is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_invoice_texts import credit_note, invoice

import billing_service
from billing_service.domain.invoices.credit_note_pdf import render_credit_note
from billing_service.domain.invoices.invoice_pdf import render_invoice
from billing_service.domain.invoices.messages import MESSAGES
from service_platform.errors import DomainError
from service_platform.messages import LANGUAGES, Catalogue, Language

_SOURCE = Path(billing_service.__file__).parent


def _kinds(kind: type[DomainError]) -> set[type[DomainError]]:
    return {kind}.union(*(_kinds(below) for below in kind.__subclasses__()))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_printed_mailed_or_a_problems(language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    text = Catalogue.text

    def watched(catalogue: Catalogue, key: str, language: Language, **values: object) -> str:
        asked.add(key)
        return text(catalogue, key, language, **values)

    monkeypatch.setattr(Catalogue, "text", watched)
    paid = invoice(language)
    render_invoice(paid, seller="Fencepost")
    render_invoice(replace(paid, total_minor=0), seller="Fencepost")
    render_credit_note(credit_note(paid, 100), seller="Fencepost")
    slugs = {kind.slug for kind in _kinds(DomainError) if "slug" in vars(kind)}
    sources = [path for path in _SOURCE.rglob("*.py") if path.name != "messages.py"]
    mailed = "".join(path.read_text(encoding="utf-8") for path in sources)
    unused = {
        key
        for key in MESSAGES.keys()  # noqa: SIM118 - not a dict
        if key not in asked and key.removesuffix(".detail") not in slugs and f'"{key}"' not in mailed
    }
    assert unused == set()
    assert asked
