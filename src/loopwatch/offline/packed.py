"""Files as they lie about, plain, gzipped or compressed with Zstandard: opened alike, read in flat memory."""

import gzip
import io
import zlib
from pathlib import Path
from typing import BinaryIO

import zstandard

PACKED = (".gz", ".zst")
READ_ERRORS = (OSError, EOFError, zlib.error, zstandard.ZstdError)
"""What reading such a file may raise."""

FED = 1_024
"""Packed bytes unpacked at a time: the worst of them become some 30 MB."""


def is_packed(path: Path) -> bool:
    """Whether a file's name says that it is compressed."""
    return path.suffix.lower() in PACKED


def open_packed(path: Path) -> io.BufferedIOBase:
    """Open a file, unpacking .gz and .zst. Raises OSError."""
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path)
        case ".zst":
            return io.BufferedReader(_Frames(path.open("rb")))
        case _:
            return path.open("rb")


def reason(error: Exception) -> str:
    """What an error while reading says, without the path, which the message has already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


class _Frames(io.RawIOBase):
    """The text of a .zst file, all its frames, in flat memory; a file that was cut off is an EOFError.

    The library's own reader takes a file that ends within a frame for a whole one.
    """

    def __init__(self, packed: BinaryIO) -> None:
        """Take the packed stream, and close it in the end."""
        self._packed = packed
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._left = b""
        self._text = b""
        self._given = 0  # of _text
        self._inside = False

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]  # the stub asks for less
        """Fill ``buffer`` as far as one packed block goes."""
        while self._given == len(self._text):
            if not self._left:
                self._left = self._packed.read(FED)
            if not self._left:
                if self._inside:
                    raise EOFError("Compressed file ended before the end of its frame")
                return 0
            self._text, self._given = self._frame.decompress(self._left), 0
            self._left, self._inside = b"", True
            if self._frame.eof:
                self._left = self._frame.unused_data
                self._frame = zstandard.ZstdDecompressor().decompressobj()
                self._inside = False
        count = min(len(buffer), len(self._text) - self._given)
        buffer[:count] = self._text[self._given : self._given + count]
        self._given += count
        return count

    def close(self) -> None:
        """Close the file too."""
        self._packed.close()
        super().close()
