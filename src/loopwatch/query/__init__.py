"""The language over records: ask thousands of runs and millions of calls in one line.

``lex`` and ``parse`` make a tree of a text and never fail; ``diagnostics`` say what is wrong and where;
``compile`` settles dates and drops what is wrong; ``evaluate`` is the meaning, ``duckdb`` the same at
size; ``catalog`` knows the fields, ``complete`` what may be typed next, ``layout`` the one way to write a
query. ``runs`` reads run folders; calls come through ``corpus``.
"""
