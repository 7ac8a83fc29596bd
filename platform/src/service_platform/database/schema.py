"""What every platform table is made with: the clock, row level security, and who may do what.

Each platform module ships its tables as numbered steps (`<module>/schema.py`: `step_1_up`, `step_1_down`), which a
service's own Alembic revisions call. The owner role migrates; the app role (`app_role()`) gets what it is given here
and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from alembic import op

Privilege = Literal["SELECT", "INSERT", "UPDATE", "DELETE"]

TEST_ROLE: Final = "fencepost_test"
"""Its members may set the clock. Tests make it; where it does not exist, nobody may."""

_ROLE = re.compile(r"[a-z_][a-z0-9_]*")


def app_role() -> str:
    """The role that the service runs as, from the Alembic configuration that `run_migrations` made."""
    config = op.get_context().config
    role = config.attributes.get("app_role") if config is not None else None
    if not isinstance(role, str) or not _ROLE.fullmatch(role):
        raise ValueError(f"app_role {role!r} is no plain role name: set DATABASE_USER to the app role of this service")
    return role


def protect(table: str, app_may: Sequence[Privilege]) -> None:
    """Force row level security on `table` and give the app role exactly `app_may`.

    The owner keeps a policy of its own, since forced security binds it too: its SECURITY DEFINER functions need it.
    """
    role = app_role()
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"REVOKE ALL ON {table} FROM PUBLIC")
    op.execute(f"CREATE POLICY {table}_owner ON {table} TO CURRENT_USER USING (true) WITH CHECK (true)")
    if app_may:
        op.execute(f"GRANT {', '.join(app_may)} ON {table} TO {role}")
        op.execute(f"CREATE POLICY {table}_app ON {table} TO {role} USING (true) WITH CHECK (true)")


def expose(function: str) -> None:
    """Let the app role, and nobody else, execute `function` (a signature: `job_claim(uuid, text)`)."""
    op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {app_role()}")


def step_1_up() -> None:
    """The clock that all platform SQL reads. Only tests can shift it or let it run at another rate.

    Reading it in a WHERE: `(SELECT platform_now())`, so that it is read once a statement and an index can be used.
    """
    op.execute(
        """
        CREATE TABLE platform_clock (
            only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
            real_at timestamptz NOT NULL,
            shown_at timestamptz NOT NULL,
            rate double precision NOT NULL CHECK (rate >= 0)
        )
        """
    )
    protect("platform_clock", [])
    # Whoever logged in must be a member of a role that nothing but a test makes: where it is missing, nobody is. So
    # neither the app role nor the owner can shift the clock of a database that is in use, unless a superuser made
    # that role and let them in.
    op.execute(
        f"""
        CREATE FUNCTION platform_clock_guard() RETURNS trigger
        LANGUAGE plpgsql SET search_path = pg_catalog, public
        AS $$
        BEGIN
            IF NOT EXISTS (
                SELECT FROM pg_roles r
                WHERE r.rolname = '{TEST_ROLE}' AND pg_has_role(session_user, r.oid, 'MEMBER')
            ) THEN
                RAISE insufficient_privilege
                USING MESSAGE = format('%s may not set the clock: only members of {TEST_ROLE} may', session_user);
            END IF;
            RETURN NULL;
        END
        $$
        """
    )
    op.execute("REVOKE ALL ON FUNCTION platform_clock_guard() FROM PUBLIC")
    op.execute(
        """
        CREATE TRIGGER platform_clock_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON platform_clock
        EXECUTE FUNCTION platform_clock_guard()
        """
    )
    op.execute(
        """
        CREATE FUNCTION platform_now() RETURNS timestamptz
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public
        AS $$
            SELECT coalesce(
                (SELECT shown_at + (clock_timestamp() - real_at) * rate FROM platform_clock),
                clock_timestamp()
            )
        $$
        """
    )
    expose("platform_now()")
    # For who waits for an instant of that clock: so many of its seconds pass in a real one.
    op.execute(
        """
        CREATE FUNCTION platform_clock_rate() RETURNS double precision
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public
        AS $$ SELECT coalesce((SELECT rate FROM platform_clock), 1) $$
        """
    )
    expose("platform_clock_rate()")
    op.execute(
        """
        CREATE FUNCTION platform_clock_set(ahead interval, new_rate double precision) RETURNS void
        LANGUAGE sql VOLATILE SET search_path = pg_catalog, public
        AS $$
            INSERT INTO platform_clock (real_at, shown_at, rate)
            VALUES (clock_timestamp(), clock_timestamp() + ahead, new_rate)
            ON CONFLICT (only_row) DO UPDATE
            SET real_at = excluded.real_at, shown_at = excluded.shown_at, rate = excluded.rate
        $$
        """
    )
    op.execute("REVOKE ALL ON FUNCTION platform_clock_set(interval, double precision) FROM PUBLIC")


def step_1_down() -> None:
    op.execute("DROP FUNCTION platform_clock_set(interval, double precision)")
    op.execute("DROP FUNCTION platform_clock_rate()")
    op.execute("DROP FUNCTION platform_now()")
    op.execute("DROP TABLE platform_clock")
    op.execute("DROP FUNCTION platform_clock_guard()")
