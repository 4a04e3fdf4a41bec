"""Confines this process to given files, by Linux's Landlock. Needs no privileges; cannot be undone.

The engine's local mode lets every user read any file of the host with the function file(), and no grant forbids it.
"""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

# linux/landlock.h; the numbers of the calls are the same on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG, RULE_PATH_BENEATH, PR_SET_NO_NEW_PRIVS = 1, 1, 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE = 1 << 13, 1 << 14
FIRST_VERSION = (1 << 13) - 1  # all of version 1: the above, and what makes or removes an entry
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE  # legal for a rule about a file


class _Ruleset(ctypes.Structure):
    _fields_ = [("handled_access_fs", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32)]


def handled(version: int) -> int:
    """The kinds of access that Landlock refuses unless a rule allows them; 0 where the kernel has no Landlock."""
    if version < 1:
        return 0
    return FIRST_VERSION | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)


def confine(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """From here on this thread, and what it starts, opens only files at or under these paths.

    A path that does not exist is left out. Returns False where the kernel has no Landlock, and confines nothing there.
    Raises OSError when Landlock refuses.
    """
    version = _libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG)
    access = handled(version)
    if not access:
        return False
    attributes = _Ruleset(access)
    ruleset = _call(CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)), 0)
    for paths, allowed in ((readable, READ_FILE | READ_DIR), (writable, access & ~EXECUTE)):
        for path in paths:
            if path.exists():
                _allow(ruleset, path, allowed)
    if _libc().prctl(PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return True


def _allow(ruleset: int, path: Path, allowed: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathBeneath(allowed if path.is_dir() else allowed & OF_FILES, opened)
        _call(ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(opened)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: system call {number}")
    return result
