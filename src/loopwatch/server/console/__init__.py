"""The console: one module a page, each handler given the request and a ``Desk``.

``desk`` is what a page works with: whose project, by whom, how its settings stand, where links lead.
``seats`` lets visitors sit down at one, or sends them to sign in; ``routes`` has every address.
"""
