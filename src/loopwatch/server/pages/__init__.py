"""How a page is made: templates and what they say, tables, forms, the files they load, what protects them.

``render`` fills templates, with ``formats`` for figures and times; ``tables`` is a table once, as HTML,
CSV and JSON; ``forms`` reads what was sent; ``assets`` serves what ``static/`` holds; ``protection`` is
the headers and checks that every page has; ``failures`` is the page where there is none. What the pages
are about is none of its business: that is ``console``'s.
"""
