"""A mail server that keeps every mail and delivers none, with the part of Mailpit's API that the suite uses.

Run it with `python -m mail_catcher`. `README.md` says what it doubles and what it does not.
"""
