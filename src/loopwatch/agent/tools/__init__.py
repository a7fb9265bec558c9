"""What a model may do besides talk: each tool a name, a description, typed arguments and a function.

``tool`` makes one of a function; ``shell``, ``files``, ``finish`` and ``spawn`` are the house's own, and
``offered`` finds those that installed packages offer. ``beneath`` opens files without ever leaving a folder.
"""
