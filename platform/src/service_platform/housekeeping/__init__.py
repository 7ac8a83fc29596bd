"""What every service deletes by the clock: declared, run and composed here once, for all of them.

A service puts `housekeeping_ticks(<its name>)` into its `JOB_TICKS`; its worker runs the jobs of them, since
`service_platform.bootstrap.with_housekeeping` adds their processors. Job kinds carry the service's name, so that each
has its own in its own queue.
"""

from .processors import housekeeping_processors
from .purges import Retention
from .ticks import housekeeping_ticks

__all__ = ["Retention", "housekeeping_processors", "housekeeping_ticks"]
