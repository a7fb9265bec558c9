"""Everything that outlives a process, in SQLite or PostgreSQL: calls, sums, windows, alerts, keys, settings.

``opening`` has the way in, ``open_store``, whose ``Store`` has one face for each use. ``writer`` takes
calls, many callers to one transaction, and answers when they are durable; ``ingest`` is that
transaction, ``sums`` and ``windows`` its parts (``valkey`` a second-stage window), ``crossings`` its
decision. ``projects``, ``keys``, ``users``, ``reports``, ``series``, ``alerts``, ``outbox`` and
``upkeep`` are what a server asks; ``tables`` and ``migrations`` the schema, ``engines``, ``hops`` and
``dialect`` the two databases, ``faults`` what their errors mean.

Money is in nano-USD, time in microseconds since 1970, both integers; user "" is everybody anonymous.
"""
