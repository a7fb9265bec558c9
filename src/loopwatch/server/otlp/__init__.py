"""OpenTelemetry's traces as they are exported over HTTP: model spans become calls, all else is let go.

``protobuf`` reads the binary form, ``spans`` finds the spans in either form, ``genai`` says which of them
are calls and reads them by the names of the ``gen_ai`` conventions. Pure: bytes in, rows out.
"""
