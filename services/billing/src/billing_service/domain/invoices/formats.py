"""Amounts, counts, rates and dates as people read them. The arithmetic stays in integers of minor units."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from babel.dates import format_date
from babel.numbers import format_decimal, format_percent
from iso4217 import Currency

from service_platform.messages import Language

from .messages import MESSAGES

_NBSP: Final = "\N{NO-BREAK SPACE}"


def format_money(amount_minor: int, currency: str, language: Language) -> str:
    """An amount with its ISO 4217 code, which unlike a symbol is never ambiguous: USD 1,234.50, 1.234,50 USD."""
    amount = format_amount(amount_minor, currency, language)
    return MESSAGES.text("money", language, amount=amount, currency=currency, nbsp=_NBSP)


def format_amount(amount_minor: int, currency: str, language: Language) -> str:
    """An amount of minor units as a number, with the decimals that ISO 4217 gives its currency (JPY 0, KWD 3).

    Babel's own decimals are those of CLDR, which has none for HUF, IDR, IQD and others that ISO 4217 divides.
    """
    decimals = Currency(currency).exponent or 0
    pattern = "#,##0." + "0" * decimals if decimals else "#,##0"
    return format_decimal(Decimal(amount_minor).scaleb(-decimals), format=pattern, locale=language)


def format_count(count: int, language: Language) -> str:
    """A number of pieces."""
    return format_decimal(count, format="#,##0", locale=language)


def format_rate(rate_bp: int, language: Language) -> str:
    """A rate in basis points as percent: 1000 is 10%, 825 is 8.25%."""
    return format_percent(Decimal(rate_bp).scaleb(-4), format="#,##0.##%", locale=language)


def format_day(at: datetime, language: Language) -> str:
    """The day of `at` in UTC, written out."""
    return format_date(at.astimezone(UTC).date(), format="long", locale=language)
