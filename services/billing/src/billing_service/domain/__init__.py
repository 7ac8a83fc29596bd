"""What this service decides. It knows no transport: doors and adapters come from outside."""
