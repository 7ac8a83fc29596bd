"""Entry points, one a process kind, and `ops` for operators: `python -m billing_service.main.<kind>`."""
