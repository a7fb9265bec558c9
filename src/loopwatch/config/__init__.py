"""The configuration document: what a run is launched on, judged whole before anything is spent.

``loading`` is the way in: ``load_config`` gives a ``Config`` or raises ConfigError with every defect of
the document at once. ``reading`` takes JSON with comments apart, ``document`` has the models (with
``loop_detection``, ``steps`` and ``limits`` for the blocks of figures, ``fields`` and ``numbers`` for what
one value may be), ``references`` judges what one part of it says about another, ``faults``, ``defects`` and
``suggestions`` put into words what is wrong. ``launch`` says what a run will do, ``schema`` and
``starter`` help to write a document. For an editor, ``draft`` is a document as the texts in its fields
(``entries`` says which, ``posted`` reads them from a form), and ``written`` what those texts say.
"""
