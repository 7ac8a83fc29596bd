"""Work that happens after a commit: processors and their steps."""

from .capture_payment import CapturePayment

__all__ = ["CapturePayment"]
