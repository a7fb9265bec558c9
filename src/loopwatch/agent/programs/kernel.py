"""Linux system calls that the standard library has no name for, by way of libc.

Every function raises OSError where the kernel refuses. Numbers and layouts are those of the kernel's public
headers (asm/unistd.h, linux/seccomp.h, linux/filter.h, linux/landlock.h, linux/capability.h).
"""

import ctypes
import os
import platform
import struct
from collections.abc import Iterable, Sequence

_libc = ctypes.CDLL(None, use_errno=True)

NEW_USER = 0x10000000
NEW_NET = 0x40000000
DIE_WITH_PARENT = 1
NO_NEW_PRIVS = 38
SET_SECCOMP = 22
SECCOMP_FILTER = 2
_LANDLOCK = (444, 445, 446)
"""create_ruleset, add_rule, restrict_self: the same numbers on every architecture."""
_VERSION = 1
_PATH_BENEATH = 1
_CAPABILITIES = 0x20080522

_X86 = 0xC000003E
_ARM = 0xC00000B7
_COLUMNS = {"x86_64": (_X86, 0), "aarch64": (_ARM, 1)}

CALLS: dict[str, tuple[int | None, int | None]] = {
    # name: x86_64, aarch64
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "kill": (62, 129),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "ptrace": (101, 117),
    "rt_sigqueueinfo": (129, 138),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "mount": (165, 40),
    "umount2": (166, 39),
    "tkill": (200, 130),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "rt_tgsigqueueinfo": (297, 240),
    "perf_event_open": (298, 241),
    "prlimit64": (302, 261),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "userfaultfd": (323, 282),
    "tgkill": (234, 131),
    "pidfd_send_signal": (424, 424),
    "io_uring_setup": (425, 425),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "pidfd_open": (434, 434),
    "clone3": (435, 435),
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
    "memfd_secret": (447, 447),
}


def architecture() -> tuple[int, int]:
    """The kernel's name of this architecture, and its column. Raises OSError where it is not known here."""
    found = _COLUMNS.get(platform.machine())
    if found is None or struct.calcsize("P") != 8:  # noqa: PLR2004  bytes of a pointer
        raise OSError(f"there is no filter for {platform.machine()}")
    return found


def call(number: int, *args: object) -> int:
    """Any system call."""
    result: int = _libc.syscall(number, *args)
    return _checked(result)


def prctl(option: int, *args: object) -> None:
    """Control this process."""
    given = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in args]
    _checked(_libc.prctl(option, *given, *[ctypes.c_ulong(0)] * (4 - len(given))))


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    _checked(_libc.unshare(flags))


def drop_capabilities() -> None:
    """Give up every privilege that root has over others."""
    number = 126 if architecture()[1] == 0 else 91
    header = struct.pack("=Ii", _CAPABILITIES, 0)
    call(number, ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))


def landlock_version() -> int:
    """The version of Landlock that there is. Raises OSError where there is none."""
    return call(_LANDLOCK[0], None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))


def restrict_files(handled: int, rules: Iterable[tuple[str, int]], scoped: int = 0) -> None:
    """Allow only these kinds of access, and those only beneath these paths. Lasts for ever.

    ``scoped``: what else may not leave (abstract sockets, signals), where the kernel knows it.
    """
    attributes = struct.pack("=QQQ", handled, 0, scoped)
    size = 24 if landlock_version() >= 6 else 8  # noqa: PLR2004  the version that has scopes
    ruleset = call(_LANDLOCK[0], ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path, access in rules:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = struct.pack("=Qi", access, handle)
                call(_LANDLOCK[1], ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), ctypes.c_uint32(0))
            finally:
                os.close(handle)
        call(_LANDLOCK[2], ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def install_filter(program: Sequence[tuple[int, int, int, int]]) -> None:
    """Install a seccomp filter, of (code, jump if true, jump if false, value). Lasts for ever."""
    packed = b"".join(struct.pack("=HBBI", *line) for line in program)
    lines = ctypes.create_string_buffer(packed, len(packed))
    described = struct.pack("HxxxxxxP", len(program), ctypes.addressof(lines))
    prctl(SET_SECCOMP, SECCOMP_FILTER, ctypes.c_char_p(described))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
