"""A stateful double of the card provider: the part of the Stripe API that the suite uses, and a ledger that judges it.

Run it with `python -m provider_double`. `README.md` says what it doubles and what it does not.
"""
