"""The server: calls come in, users are watched, alerts go out. Where everything else is joined.

``app`` has the routes, each in the module of its noun: ``ingest`` and ``otlp`` take calls in, ``check``
says whether the next one may go ahead, ``reports``, ``recommendations``, ``settings`` and ``users`` are
asked. ``auth`` lets in, ``bodies`` and ``buckets`` bound what comes, ``answers`` what goes out.
``services`` is what a request may use, ``chores`` runs beside them, ``serving`` starts and ends it all.
"""
