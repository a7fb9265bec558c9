"""One request that survives: a looping, stalling or failing provider costs a bounded, known amount.

``ModelClient`` asks a model and answers with its reply. Below it, in the order of a request's life:
``request`` (what is sent), ``transport`` (who sends it), ``status`` (what its head says), ``attempt``
(one answer, read to its end or to a loop), ``watchdog`` (the two clocks of an attempt), ``schedule``
(when to ask again), ``tally`` (what was thrown away) and ``late`` (what that cost in the end).
"""
