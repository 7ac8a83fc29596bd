"""The suite in containers: what the Makefile calls where a Docker engine answers. `native` runs it without."""
