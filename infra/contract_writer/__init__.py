"""Writes and checks what the services promise each other and their callers: `make contracts`, `contracts-check`."""
