"""The second seed's figures of a burst that no person types: more than 50,000 tokens in 5 minutes."""

TOKEN_THRESHOLD = 50_000
"""Tokens of one user within the window; strictly more are too many."""
WINDOW_SECONDS = 300.0
COOLDOWN_SECONDS = 1_800.0
"""How long it stays quiet about a user after an alert."""
