"""The business table that consumers write to, in the order service's database."""

from __future__ import annotations

from .lab import Lab, connect

INSERT_EFFECT = "INSERT INTO bench_effect (seq, aggregate, amount_minor) VALUES ($1, $2, $3)"
INSERT_EFFECT_BY_NAME = (
    "INSERT INTO bench_effect (seq, aggregate, amount_minor) VALUES (:seq, :aggregate, :amount_minor)"
)

_CREATE = """
    DROP TABLE IF EXISTS bench_effect;
    CREATE TABLE bench_effect (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        seq bigint NOT NULL,
        aggregate text NOT NULL,
        amount_minor bigint NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    GRANT INSERT ON bench_effect TO order_app;
    TRUNCATE inbox;
"""


class Effects:
    """What took effect, as the server's superuser sees it."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    async def open(self) -> None:
        """Have an empty table and an empty inbox."""
        self._connection = await connect(self._lab.superuser("order_db"))
        await self._connection.execute(_CREATE)
        await self._connection.execute("VACUUM (ANALYZE) inbox")

    async def count(self) -> int:
        """How many effects there are, without those of a warm-up."""
        count: int = await self._connection.fetchval("SELECT count(*) FROM bench_effect WHERE seq > 0")
        return count

    async def steady_rate(self) -> float:
        """Effects a second, without the first and the last tenth."""
        [(begin, end, between)] = await self._connection.fetch(
            """
            WITH edge AS (
                SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY at) AS begin,
                       percentile_disc(0.9) WITHIN GROUP (ORDER BY at) AS "end"
                FROM bench_effect
            )
            SELECT extract(epoch FROM begin)::float8, extract(epoch FROM "end")::float8,
                   (SELECT count(*) FROM bench_effect WHERE at > begin AND at <= "end")
            FROM edge
            """
        )
        return float(between / (end - begin))

    async def lost_and_double(self, rows: int) -> tuple[int, int]:
        """Of the rows 1 to `rows`: how many have no effect, and how many effects are one too many."""
        [(effects, distinct)] = await self._connection.fetch(
            "SELECT count(*), count(DISTINCT seq) FROM bench_effect WHERE seq > 0"
        )
        return rows - distinct, effects - distinct

    async def close(self) -> None:
        """Take the table away."""
        await self._connection.execute("DROP TABLE IF EXISTS bench_effect; TRUNCATE inbox;")
        await self._connection.close()
