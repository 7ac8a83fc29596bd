"""The table of ticks and the function that owns it.

One row a tick: the newest minute that was claimed for it, whether a job was enqueued for that minute or the tick's
policy passed it over. The row outlives the job, so a replica that comes late finds the minute taken, however long ago
its job ended and was purged.

The app role reads the table and calls the function; it has no other way to write.
"""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import expose, protect

# One statement moves the row, and only forward: of any number of callers with one minute, one is told that it did. A
# second caller waits for the first one's transaction, and looks at the row that it left.
#
# A minute that lies ahead is an error: it would silence the tick until then.
_CLAIM = """
    CREATE FUNCTION job_tick_claim(tick text, due_minute text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public
    AS $$
    BEGIN
        IF due_minute COLLATE "C" > to_char(platform_now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI') THEN
            RAISE invalid_parameter_value
            USING MESSAGE = format('the minute %s of tick %s has not come', due_minute, tick);
        END IF;
        INSERT INTO job_ticks AS t (name, minute) VALUES (tick, due_minute)
        ON CONFLICT (name) DO UPDATE SET minute = excluded.minute WHERE t.minute < excluded.minute;
        RETURN FOUND;
    END
    $$
"""


def step_1_up() -> None:
    """Needs step 1 of the database."""
    op.execute(
        """
        CREATE TABLE job_ticks (
            name text PRIMARY KEY,
            minute text COLLATE "C" NOT NULL CHECK (minute ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$')
        )
        """
    )
    protect("job_ticks", ["SELECT"])
    op.execute(_CLAIM)
    expose("job_tick_claim(text, text)")


def step_1_down() -> None:
    op.execute("DROP FUNCTION job_tick_claim(text, text)")
    op.execute("DROP TABLE job_ticks")
