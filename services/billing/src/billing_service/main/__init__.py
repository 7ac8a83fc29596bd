"""Entry points, one a process kind: `python -m billing_service.main.<kind>`."""
