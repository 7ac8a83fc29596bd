"""Gapless numbers: the next one of a series, and the date that goes with it.

The number is drawn by updating the series' one row, so a transaction that draws one makes the next wait until it
commits, and a rollback gives its number back: no gap, no double. It is drawn by the last statement before publishing,
to keep that wait short. A transaction that draws of both series draws of INV first, so none waits for another in turn.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import CTE, BigInteger, DateTime, Integer, Text, column, text

INVOICE_SERIES: Final = "INV"
CREDIT_NOTE_SERIES: Final = "CN"

# The clock is read once, inside the update of the row, which PostgreSQL evaluates again after a wait for its lock
# (READ COMMITTED). So a number that waited over midnight on New Year's Eve gets the new year, and number, year and
# date always agree. The date never goes back, whatever the clock does: otherwise the old year's counting would begin
# again at 1.
_DRAW: Final = """
    UPDATE number_series AS series
    SET (year, last_number, last_issued_at) = (
        SELECT drawn.year, CASE WHEN drawn.year = series.year THEN series.last_number + 1 ELSE 1 END, drawn.at
        FROM (
            SELECT latest.at, extract(year FROM latest.at AT TIME ZONE 'UTC')::integer AS year
            FROM (SELECT greatest(series.last_issued_at, platform_now()) AS at) AS latest
        ) AS drawn
    )
    WHERE series.series = :series
    RETURNING series.series, series.year, series.last_number AS sequence, series.last_issued_at AS issued_at
"""


def drawn_number(series: str) -> CTE:
    """A table expression of one row: `series`, `year`, `sequence`, `issued_at` (UTC decides the year)."""
    drawn = text(_DRAW).bindparams(series=series)
    columns = (
        column("series", Text),
        column("year", Integer),
        column("sequence", BigInteger),
        column("issued_at", DateTime(timezone=True)),
    )
    return drawn.columns(*columns).cte("drawn")
