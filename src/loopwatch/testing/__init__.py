"""What ships for users' tests: models that loop on purpose, without a key and without a bill.

``provider`` answers request by request as it is told, over a real socket: replies, errors, stalls, resets,
loops and late prices (``answers`` and ``steps`` are what it is told with). ``looping`` is a generator
that loops on demand, served as a provider would; ``smallmodel`` runs a real small language model on this
machine, where its wheels are installed; ``process`` keeps a server in a child process that never
outlives us.
"""
