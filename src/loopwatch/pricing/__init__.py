"""What tokens cost, and how many there were where nobody said. Pure: figures in, figures out.

``prices`` has the ``PriceTable`` that everybody asks. It knows three sources: what the provider itself
reported, a project's ``overrides``, and genai-prices, read by ``published``. ``price`` is one price and
its arithmetic, ``names`` the ways to spell a model's id, ``providers`` those of a provider and its
hosts. ``scripts`` counts characters and ``tokens`` estimates from them; ``abandoned`` says who goes on
billing after a dropped connection.

Money is whole nano-US-dollars (a billionth of a dollar), so that sums are exact; what is not known is
None, never 0. No wall clock is read: whoever asks says for when.
"""
