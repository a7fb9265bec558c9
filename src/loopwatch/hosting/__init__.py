"""What every program of ours needs that stays up: a socket, signals, logs, and the store with its helpers.

``listening`` binds and serves until a signal, ``logs`` says what happens, ``storing`` opens the database
with ``prices`` for what comes in and ``telling`` for the alerts that come of it, and ``exposition``
writes figures for Prometheus.
"""
