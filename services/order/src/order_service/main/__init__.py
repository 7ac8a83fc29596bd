"""Entry points, one a process kind, and `ops` for operators: `python -m order_service.main.<kind>`."""
