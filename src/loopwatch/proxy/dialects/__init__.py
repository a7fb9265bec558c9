"""What differs from provider to provider: one module each, ``names`` finds them.

A ``Dialect`` says how a request is asked as a stream, a ``Tail`` how a stream that was cut ends, an
``Assembler`` what document the events of a stream make.
"""
