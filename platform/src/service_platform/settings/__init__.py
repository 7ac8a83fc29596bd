"""Typed settings from the environment; every secret by NAME or NAME_FILE."""

from .load import EXIT_CONFIGURATION, load
from .service import Environment, ServiceSettings

__all__ = ["EXIT_CONFIGURATION", "Environment", "ServiceSettings", "load"]
