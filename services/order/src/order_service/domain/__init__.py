"""What this service decides. It knows no transport: doors come from outside."""
