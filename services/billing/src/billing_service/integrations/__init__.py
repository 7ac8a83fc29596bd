"""The outside world, each part behind a port of the domain. The only place with its clients."""

from .mail import SmtpMailer

__all__ = ["SmtpMailer"]
