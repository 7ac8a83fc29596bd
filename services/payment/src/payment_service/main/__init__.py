"""Entry points, one a process kind: `python -m payment_service.main.<kind>`."""
