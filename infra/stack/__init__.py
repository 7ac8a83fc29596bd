"""The suite on Docker Swarm: writes the stack file from docker-compose.yaml, the overlay and the lock of own images."""

from .images import Lock
from .render import render_stack

__all__ = ["Lock", "render_stack"]
