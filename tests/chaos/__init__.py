"""Chaos with a judge: real purchases are played while everything is killed, stopped, restarted and cut, by a seed."""
