"""`python -m native <command>`: see `commands.py`."""

from .commands import app

app()
