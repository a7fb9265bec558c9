"""Is this reply a loop, and where did it begin? Pure: text in, verdict out.

``detector`` reads one reply and runs the rules, each of which is a module: ``words`` (the seed's),
``cycles`` (with ``lags``, ``units`` and ``counters``), ``phrases``, ``blank``, ``length``. ``settings``
has every figure with its reason, ``trip`` is the verdict, ``guard`` wraps a stream.
"""
