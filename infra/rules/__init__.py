"""What all rules of `make lint` share: what a broken one says, and how a run of them ends."""

from .breach import Breach
from .run import finish

__all__ = ["Breach", "finish"]
