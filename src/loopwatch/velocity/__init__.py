"""The rolling window's arithmetic, shared by whoever watches one process and by the store. Pure.

``window`` says which calls count and holds them in memory, ``tokens`` what a call weighs, ``cooldown``
whether an alert may go out again.
"""
