"""Bytes on the wire -> events -> pieces of text. Pure: no sockets, no clocks, no files."""
