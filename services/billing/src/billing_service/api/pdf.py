"""Answering with a PDF."""

from __future__ import annotations

from fastapi import Response


class PdfResponse(Response):
    """A PDF, to be shown under the name of its number."""

    media_type = "application/pdf"

    @classmethod
    def named(cls, number: str, pdf: bytes) -> PdfResponse:
        return cls(pdf, headers={"Content-Disposition": f'inline; filename="{number}.pdf"'})
