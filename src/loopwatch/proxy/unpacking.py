"""Packed bodies, read as they come: gzip, deflate, brotli, zstd. Never much of one in memory at once."""

import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import brotli  # type: ignore[import-untyped]
import zstandard

from loopwatch.errors import InputError

PIECE = 65_536
"""Bytes that are unpacked at a time, about."""
SLICE = 64
"""Packed bytes that zstd is given at a time: a block of it, which takes four, may hold 128 KiB."""
GZIP_OR_ZLIB = 47
"""zlib's word for: whichever of the two headers is there, the largest window."""


class Unpacker(Protocol):
    """Unpacks one body."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Unpack the next bytes. Raises InputError where they are not what they should be."""


class _Zlib:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(GZIP_OR_ZLIB)

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            while data:
                piece = self._inner.decompress(data, PIECE)
                if piece:
                    yield piece
                data = self._inner.unconsumed_tail
        except zlib.error:
            raise InputError("the body is not packed as its header says") from None


class _Brotli:
    def __init__(self) -> None:
        self._inner: Any = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            piece = self._inner.process(data, output_buffer_limit=PIECE)
            while piece:
                yield piece
                piece = self._inner.process(b"", output_buffer_limit=PIECE)
        except brotli.error:
            raise InputError("the body is not packed as its header says") from None


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            for start in range(0, len(data), SLICE):
                piece = self._inner.decompress(data[start : start + SLICE])
                if piece:
                    yield piece
        except zstandard.ZstdError:
            raise InputError("the body is not packed as its header says") from None


_UNPACKERS: dict[str, Callable[[], Unpacker]] = {
    **dict.fromkeys(("gzip", "x-gzip", "deflate"), _Zlib),
    "br": _Brotli,
    "zstd": _Zstd,
}


def unpacker(encoding: str) -> Unpacker | None:
    """What unpacks a body of that Content-Encoding; None where nothing here does."""
    make = _UNPACKERS.get(encoding)
    return None if make is None else make()


def unpacked(encoding: str, data: bytes, most: int) -> bytes | None:
    """A whole body unpacked; None where that cannot be done, or comes to more than ``most`` bytes."""
    unpacking = unpacker(encoding)
    if unpacking is None:
        return None
    whole = bytearray()
    try:
        for piece in unpacking.feed(data):
            whole += piece
            if len(whole) > most:
                return None
    except InputError:
        return None
    return bytes(whole)
