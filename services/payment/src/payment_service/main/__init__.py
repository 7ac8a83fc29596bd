"""Entry points, one a process kind, and `ops` for operators: `python -m payment_service.main.<kind>`."""
