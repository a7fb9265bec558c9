"""The guard for every program that can change its base URL: it asks the proxy, the proxy asks the provider.

``serving`` runs it, ``app`` is its face, ``exchange`` one request of it. ``routes`` says what is asked,
``upstreams`` where, ``headers`` and ``upstream`` carry it there; ``relay`` hands a stream on while
``watching`` reads a copy, ``whole`` answers with one document. ``dialects`` has what differs from provider
to provider: how a stream ends cleanly, what an error looks like, what a document is made of.

``callers`` says whose call it is, ``conversations`` sees an agent that goes in circles, ``ledger`` has
every call logged, ``protocol`` keeps clients within limits.
"""
