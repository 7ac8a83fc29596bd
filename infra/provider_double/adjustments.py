"""The shiftable clock and the delay of search; both survive a restart, as what depends on them does."""

import time

from provider_double.store import Store


class Adjustments:
    """Read at every call, written by the control API only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        rows = store.connection.execute("select name, value from adjustments").fetchall()
        self._values: dict[str, float] = {row["name"]: row["value"] for row in rows}

    def now(self) -> float:
        """Seconds since the epoch on the provider's clock: real time plus all shifts."""
        return time.time() + self._values.get("clock_offset", 0.0)

    @property
    def clock_offset(self) -> float:
        """Seconds by which the provider's clock is ahead of real time."""
        return self._values.get("clock_offset", 0.0)

    @property
    def search_delay(self) -> float:
        """Seconds that a change needs until search sees it."""
        return self._values.get("search_delay", 0.0)

    def shift_clock(self, seconds: float) -> None:
        """Move the clock by so many seconds, on top of earlier shifts."""
        self._set("clock_offset", self.clock_offset + seconds)

    def set_search_delay(self, seconds: float) -> None:
        self._set("search_delay", seconds)

    def forget(self) -> None:
        """Back to real time and a search without delay, after the store was cleared."""
        self._values.clear()

    def _set(self, name: str, value: float) -> None:
        with self._store.transaction() as connection:
            connection.execute(
                "insert into adjustments (name, value) values (?, ?)"
                " on conflict (name) do update set value = excluded.value",
                (name, value),
            )
        self._values[name] = value
