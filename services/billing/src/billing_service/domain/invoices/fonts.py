"""The type that invoices are set in: Noto Sans, cut down to what an invoice can contain.

The font comes as one variable file of two megabytes. Two small static fonts are made of it once a process; embedding
the few letters of a document then costs a millisecond.
"""

from __future__ import annotations

import io
import logging
import threading
from typing import Final

from fontpkg_noto_sans import ROOT
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont as EmbeddedFont

from .letters import LETTERS

REGULAR: Final = "Invoice-Regular"
BOLD: Final = "Invoice-Bold"

_WEIGHTS: Final = {BOLD: 700, REGULAR: 400}
_LAYOUT_TABLES: Final = ("GPOS", "GSUB", "GDEF")

_registering = threading.Lock()


def register_fonts() -> None:
    """Make `REGULAR` and `BOLD` known to reportlab. The first call of a process takes about half a second.

    What a process forks afterwards has them too.
    """
    with _registering:
        if REGULAR in pdfmetrics.getRegisteredFontNames():
            return
        logging.getLogger("fontTools").setLevel(logging.WARNING)  # a line for every table that it touches
        variable = _with_letters_only()
        for name, weight in _WEIGHTS.items():
            file = io.BytesIO(_at_weight(variable, weight))
            # Else every document would embed all of ASCII, and be twice as large.
            pdfmetrics.registerFont(EmbeddedFont(name, file, asciiReadable=False))


def _with_letters_only() -> bytes:
    font = TTFont(ROOT / "files" / "NotoSans[wdth,wght].ttf")
    for table in _LAYOUT_TABLES:  # reportlab does not shape text, and cutting these down is most of the work
        del font[table]
    subsetter = Subsetter(Options(hinting=False, notdef_outline=True, name_IDs=["*"]))
    subsetter.populate(unicodes={ord(letter) for letter in LETTERS})
    subsetter.subset(font)
    return _saved(font)


def _at_weight(variable: bytes, weight: int) -> bytes:
    axes = {"wght": weight, "wdth": 100}
    # Each weight needs a name of its own: within a document a font is known by the name in its file.
    return _saved(instantiateVariableFont(TTFont(io.BytesIO(variable)), axes, static=True, updateFontNames=True))


def _saved(font: TTFont) -> bytes:
    saved = io.BytesIO()
    font.save(saved)
    return saved.getvalue()
