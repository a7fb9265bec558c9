"""Telling somebody: which figures are worth an alert, what it says, and how it gets there.

``rules`` decide, without I/O, over the figures of one user. An alert becomes a ``Message``, and each of
the ``channels`` freezes its own rendering of it as a delivery in the ``outbox``; a ``Courier`` delivers
what is due, and tries again on a ``schedule``. ``digest`` composes the weekly summary, ``links`` signs
the one-tap block link. Whoever stores the rows and asks the rules is above: this package knows no SQL
and no server.
"""
