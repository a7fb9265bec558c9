"""What is kept of a model call and of an alert, and how both are read. Pure: values in, values out.

``call`` is one logged call, ``row`` reads one from what a client sent, or says why not; ``identity``
keeps e-mail addresses and card numbers out, ``moments`` reads and bounds a client's clock, ``money``
counts in billionths of a dollar. ``alert`` is what the window found, ``delivery`` the frozen text that
tells it.
"""
