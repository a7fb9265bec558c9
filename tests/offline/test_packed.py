import gzip
import io
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard

from loopwatch.offline.packed import READ_ERRORS, is_packed, open_packed, reason
from tests.offline.files import PACKS, write


def read_all(stream: io.BufferedIOBase) -> tuple[bytes, Exception | None]:
    """What can be read, and what ended it."""
    got = b""
    try:
        while data := stream.read1(1 << 16):
            got += data
    except READ_ERRORS as error:
        return got, error
    return got, None


CONTENT = b"".join(b"line %d\n" % number for number in range(20_000))


@pytest.mark.parametrize("suffix", PACKS)
def test_a_file_is_read_as_if_it_were_plain(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a.txt{suffix}", PACKS[suffix](CONTENT))
    with open_packed(path) as stream:
        assert stream.readline() == b"line 0\n"
        assert stream.read1(5) == b"line "
        assert stream.read() == CONTENT[len(b"line 0\nline ") :]
        assert stream.read() == b""


@pytest.mark.parametrize("name", ["a.GZ", "a.gz", "a.tar.Gz"])
def test_the_case_of_a_suffix_is_no_matter(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, gzip.compress(b"text"))
    assert is_packed(path)
    with open_packed(path) as stream:
        assert stream.read() == b"text"


@pytest.mark.parametrize("name", ["a", "a.txt", "gz", "a.gz.txt", ".gz"])
def test_other_names_are_plain(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, b"text")
    assert not is_packed(path)
    with open_packed(path) as stream:
        assert stream.read() == b"text"


@pytest.mark.parametrize("suffix", PACKS)
def test_an_empty_file_is_empty(tmp_path: Path, suffix: str) -> None:
    for content in (b"", PACKS[suffix](b"")):
        with open_packed(write(tmp_path / f"a{suffix}", content)) as stream:
            assert stream.read() == b""


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_files_joined_end_to_end_are_one(tmp_path: Path, suffix: str) -> None:
    pack = PACKS[suffix]
    path = write(tmp_path / f"a{suffix}", pack(b"one ") + pack(b"") + pack(CONTENT))
    with open_packed(path) as stream:
        assert stream.read() == b"one " + CONTENT


def test_a_zst_file_without_its_length_and_in_many_blocks_is_read(tmp_path: Path) -> None:
    chance = random.Random(1)
    content = chance.randbytes(300_000) + bytes(300_000)
    packer = zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compressobj()
    packed = packer.compress(content) + packer.flush()
    with open_packed(write(tmp_path / "a.zst", packed)) as stream:
        assert stream.read() == content


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_of_a_file_that_was_cut_off_what_is_there_can_be_read(
    tmp_path: Path, suffix: str, kept: float
) -> None:
    content = random.Random(2).randbytes(200_000)
    packed = PACKS[suffix](content)
    path = write(tmp_path / f"a{suffix}", packed[: int(len(packed) * kept)])
    with open_packed(path) as stream:
        got, error = read_all(stream)
    assert isinstance(error, EOFError)
    assert str(error).startswith("Compressed file ended before ")
    assert content.startswith(got)
    assert len(got) >= len(content) * kept - 140_000  # a block of Zstandard is 128 KiB


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize(
    "content",
    [b"text", b"\x1f\x8b" + bytes(90), b"\x28\xb5\x2f\xfd" + b"\xff" * 90],
    ids=["text", "gzip", "zstd"],
)
def test_a_file_that_is_not_what_its_name_says_is_a_read_error(
    tmp_path: Path, suffix: str, content: bytes
) -> None:
    with (
        open_packed(write(tmp_path / f"a{suffix}", content)) as stream,
        pytest.raises(READ_ERRORS) as refused,
    ):
        stream.read()
    assert reason(refused.value)


def test_a_window_larger_than_the_format_asks_for_is_refused(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(bytes(1_000)) + packer.flush()
    with open_packed(write(tmp_path / "a.zst", packed)) as stream, pytest.raises(READ_ERRORS, match="memory"):
        stream.read()


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    for name in ("a", "a.gz", "a.zst"):
        with pytest.raises(OSError, match="No such file") as missing:
            open_packed(tmp_path / name)
        assert reason(missing.value) == "No such file or directory"


def test_a_stream_is_closed_with_its_file(tmp_path: Path) -> None:
    stream = open_packed(write(tmp_path / "a.zst", zstandard.compress(b"text")))
    assert stream.readable()
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.read()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(5, "Input/output error", "a.txt"), "Input/output error"),
        (gzip.BadGzipFile("Not a gzipped file"), "Not a gzipped file"),
        (zlib.error("Error -3"), "Error -3"),
        (EOFError(), "EOFError"),
    ],
)
def test_a_reason_has_no_path(error: Exception, said: str) -> None:
    assert reason(error) == said


BOMB = """
import re, sys
from pathlib import Path
from loopwatch.offline.packed import open_packed
total = 0
with open_packed(Path(sys.argv[1])) as stream:
    while data := stream.read1(1 << 16):
        total += len(data)
print(total, re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks /proc for the peak")
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_bomb_is_unpacked_in_flat_memory(tmp_path: Path, suffix: str) -> None:
    packed = io.BytesIO()
    size = 1 << 29
    with (
        gzip.open(packed, "wb")
        if suffix == ".gz"
        else zstandard.ZstdCompressor(level=19).stream_writer(packed, closefd=False) as packer
    ):
        for _ in range(size >> 20):
            packer.write(bytes(1 << 20))
    path = write(tmp_path / f"bomb{suffix}", packed.getvalue())
    assert path.stat().st_size < size / 900
    done = subprocess.run([sys.executable, "-c", BOMB, path], capture_output=True, text=True, check=True)
    total, peak = map(int, done.stdout.split())
    assert total == size
    assert peak < 200_000
