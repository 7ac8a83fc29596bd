"""Writes what each service promises the others and its callers: `make contracts`."""
