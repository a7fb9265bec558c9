"""One agent's whole piece of work: turns, tools, programs, ceilings, and the record of it all.

``run`` is the way in. ``members`` judges what a configuration declares against what there is here,
``session`` is what the agents of a run share, and ``crew`` starts them. ``agent`` is one of them and its
turns: ``context`` is what its model is sent, ``answering`` and ``calling`` carry out what it answers,
``ledger`` and ``billing`` say what became of each reply and what it cost, ``ceilings`` when to stop,
``gate`` how many work at once, ``prompts`` has every word that a model is told. ``tools`` and ``programs``
are what a model may do; ``folder``, ``journal`` and ``summing`` are what stays, without what ``secrecy``
keeps out; ``arms`` compares. Nothing of ceilings or loops is ever told to a model: one that knows that it
is watched behaves differently.
"""
