"""Programs that a model answers with: Python, shut in, with the agent's tools as its functions.

``source`` finds the program in a reply, ``sandbox`` runs it in a process of its own and serves its calls.
``child`` is that process: ``confinement`` shuts it in before the first line of the program runs, with
``kernel`` for the system calls that Python has no name for. The child needs nothing but the standard library.
"""
