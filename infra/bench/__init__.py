"""Measures the suite against limits and peers in one run: `make bench` (docs/benchmarks.md says what and how)."""
