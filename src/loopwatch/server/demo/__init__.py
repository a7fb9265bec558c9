"""The console over made-up data, for whoever wants to look: no sign-in, and nothing that they do is kept.

``company`` invents the calls, ``loop`` the agent that loops right now, ``stage`` keeps them in a database
of its own for as long as somebody looks, ``routes`` has the console's own pages at a desk over it.
"""
