"""The suite seen from outside: a token, one order followed hop by hop, and the replay of real purchases with its judge.

Everything here talks public HTTP only; it imports nothing of the platform or the services.
"""
