"""The letters that an invoice can contain: its fonts hold these and no others."""

from typing import Final

_VIETNAMESE: Final = [0x1A0, 0x1A1, 0x1AF, 0x1B0, *range(0x1EA0, 0x1EFA)]  # on top of the Latin blocks
_PUNCTUATION: Final = [*range(0x2010, 0x2027), 0x202F]

LETTERS: Final = frozenset(
    map(chr, [*range(0x20, 0x7F), *range(0xA0, 0xAD), *range(0xAE, 0x180), *_VIETNAMESE, *_PUNCTUATION])
)
"""ASCII, Latin-1, Latin Extended-A, Vietnamese, and the dashes, quotes and spaces of typesetting."""
