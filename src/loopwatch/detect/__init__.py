"""Is this reply a loop, and where did it begin? Pure: text in, verdict out.

``detector`` reads one reply and runs the rules, each of which is a module: ``words`` (the seed's),
``cycles`` (with ``lags``, ``units``, ``counters`` over a ``skeleton``, and ``stutter``), ``phrases``
(with ``refrain``), ``blank``, ``length``. ``finding`` is what a rule says, ``trip`` the verdict,
``settings`` how patient each is, ``characters`` what a blank, a letter and a word are, ``guard`` wraps
a stream, ``reply`` reads whole ones, ``engine`` names the implementation, ``native`` is the face of the
one in Rust.
"""
