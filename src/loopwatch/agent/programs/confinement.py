"""Shuts this process in: what it may use up, the files it may see, the system calls it may make.

Done once, before a program runs, and cannot be undone. Two walls stand by themselves: Landlock lets it read
the standard library and use its own scratch folder, nothing else; seccomp refuses new processes, other
programs, sockets, signals to others, and what reaches into the kernel. Namespaces come on top where the
system grants them. A wall that cannot be put up is an OSError: nothing runs open.
"""

import errno
import os
import resource
import signal
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from loopwatch.agent.programs import kernel

MIB = 1024 * 1024
OPEN_FILES = 64

_READ = 0b0_0000_0000_1100  # read a file, list a folder
_WRITE = 0b1_0001_1011_1110  # the same, write, make and remove files, folders and links
_EVERY = 0b1_1111_1111_1111  # what the first version of Landlock knows
_TRUNCATE = 1 << 14
_REFER = 1 << 13
_DEVICES = 1 << 15
_SCOPES = 0b11  # abstract sockets, signals

_LOAD, _JUMP_EQUAL, _JUMP_ANY, _JUMP_FROM, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000
_THREAD = 0x00010000

_SELF_ONLY = ("kill", "tgkill")
_NETWORK = ("socket",)


def confine(scratch: str, limits: Mapping[str, Any]) -> None:
    """Shut this process in. Raises OSError with what could not be done."""
    _use_up(limits)
    _leave_namespaces(network=bool(limits["network"]))
    kernel.prctl(kernel.NO_NEW_PRIVS, 1)
    with suppress(OSError):  # who is not root has none, and a new user namespace keeps them in
        kernel.drop_capabilities()
    kernel.prctl(kernel.DIE_WITH_PARENT, signal.SIGKILL)
    with _wall("Landlock is needed, of Linux 5.13 or later"):
        _see_only(scratch)
    with _wall("seccomp is needed, on x86_64 or aarch64"):
        _call_only(network=bool(limits["network"]))


@contextmanager
def _wall(needed: str) -> Iterator[None]:
    """Say what is needed where it cannot be had."""
    try:
        yield
    except OSError as error:
        raise OSError(f"{needed} ({error.strerror or error})") from None


def _use_up(limits: Mapping[str, Any]) -> None:
    cpu = int(limits["cpuSecs"])
    for what, most in (
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_AS, int(limits["memoryMb"]) * MIB),
        (resource.RLIMIT_FSIZE, int(limits["fileMb"]) * MIB),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        grace = 1 if what == resource.RLIMIT_CPU else 0  # the signal first that says why, then the end
        resource.setrlimit(what, (least, least + grace if hard == resource.RLIM_INFINITY else least))


def _leave_namespaces(*, network: bool) -> None:
    """Leave the host's network and users behind, where the system allows it."""
    flags = kernel.NEW_USER if network else kernel.NEW_USER | kernel.NEW_NET
    with suppress(OSError):  # seccomp refuses sockets all the same
        kernel.unshare(flags)


def _see_only(scratch: str) -> None:
    version = kernel.landlock_version()
    handled, inside = _EVERY, _WRITE
    for since, access in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICES)):
        if version >= since:
            handled |= access
            inside |= access if access != _DEVICES else 0
    readable = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *_LIBRARIES}
    rules = [(path, _READ) for path in sorted(readable) if Path(path).is_dir()]
    devices = [(path, 0b110) for path in _DEVICE_FILES if Path(path).exists()]
    scoped = _SCOPES if version >= 6 else 0  # noqa: PLR2004  the version that has scopes
    kernel.restrict_files(handled, [*rules, *devices, (scratch, inside)], scoped)


_DEVICE_FILES = ("/dev/null", "/dev/zero", "/dev/urandom")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo")
"""Where the libraries are that modules of the standard library need."""


def _call_only(*, network: bool) -> None:
    kernel.install_filter(list(_filter(network=network)))


def _filter(*, network: bool) -> Iterator[tuple[int, int, int, int]]:
    """The filter: every other architecture and every call by number of one is refused; then call by call."""
    name, column = kernel.architecture()
    refused = _REFUSE | errno.EPERM
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _JUMP_EQUAL, 1, 0, name
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    yield _JUMP_FROM, 0, 1, _X32
    yield _RETURN, 0, 0, refused
    for called, numbers in kernel.CALLS.items():
        number = numbers[column]
        if number is None or (network and called in _NETWORK):
            continue
        if called == "clone3":  # not known here: then libc asks clone, whose flags can be read
            yield from _on(number, [(_RETURN, 0, 0, _REFUSE | errno.ENOSYS)])
        elif called == "clone":
            yield from _on(
                number, [(_LOAD, 0, 0, _FIRST), (_JUMP_ANY, 1, 0, _THREAD), (_RETURN, 0, 0, refused)]
            )
        elif called in _SELF_ONLY:
            yield from _on(number, [_first(), (_JUMP_EQUAL, 1, 0, os.getpid()), (_RETURN, 0, 0, refused)])
        elif called == "prlimit64":  # of oneself, and then only to read
            yield from _on(number, [_first(), (_JUMP_EQUAL, 1, 0, 0), (_RETURN, 0, 0, refused)])
        else:
            yield from _on(number, [(_RETURN, 0, 0, refused)])
    yield _RETURN, 0, 0, _ALLOW


def _first() -> tuple[int, int, int, int]:
    """Look at the lower half of the first argument."""
    return _LOAD, 0, 0, _FIRST


def _on(number: int, then: list[tuple[int, int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Do this for one call; a test that passes in it allows the call."""
    tail = [(_RETURN, 0, 0, _ALLOW)] if len(then) > 1 else []
    yield _JUMP_EQUAL, 0, len(then) + len(tail), number
    yield from then
    yield from tail
