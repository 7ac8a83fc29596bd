"""Entry points, one a process kind: `python -m order_service.main.<kind>`."""
