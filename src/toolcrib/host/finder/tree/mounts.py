"""Which file systems tell of every change: not those that another machine or another program changes as well."""

import os

_DEAF = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "fuse", "virtiofs", "vboxsf", "gpfs", "ocfs2")
"""Beginnings of the names of file systems whose changes need not come from this kernel (filesystems(5))."""


def kinds() -> dict[int, str]:
    """Return the kind of every mounted file system by its device number, as /proc/self/mountinfo has it (proc(5))."""
    found: dict[int, str] = {}
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return found
    for line in lines:
        head, _, tail = line.partition(" - ")
        device = head.split(" ")[2]
        major, _, minor = device.partition(":")
        found[os.makedev(int(major), int(minor))] = tail.split(" ")[0]
    return found


def deaf(kind: str | None) -> bool:
    """Tell whether changes may be made that the kernel gives no event for."""
    return kind is not None and kind.startswith(_DEAF)
