"""The channels, one module or folder each: how a message looks there, and what counts as taken.

``channel`` says what a channel is, ``registry`` makes them from a project's settings.
"""
