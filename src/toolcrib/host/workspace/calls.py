"""The system calls of the membrane, in one place: what a test can fail, stop at or take away."""

import ctypes
import errno
import fcntl
import os
import platform

O_PATH = os.O_PATH
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08
"""Flags of `openat2(2)`."""

_OPENAT2 = 437  # the same number on every architecture since Linux 5.6
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "ppc64le": 357, "s390x": 347, "armv7l": 382}
_RENAME_NUMBER = _RENAMEAT2.get(platform.machine())
_NOREPLACE = 1
_EXCHANGE = 2

_libc = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    """`struct open_how` of openat2(2)."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


class Calls:
    """The real system calls. Names are bytes, directories are descriptors; every method may raise OSError.

    The methods from `create` on are the write path: each call of one is a site where a fault may strike.
    """

    def beneath(self, directory: int, path: bytes, flags: int, resolve: int) -> int:
        """Open `path` by openat2(2)."""
        how = _How(flags=flags | os.O_CLOEXEC, mode=0, resolve=resolve)
        return _checked(
            _libc.syscall(
                ctypes.c_long(_OPENAT2),
                ctypes.c_int(directory),
                ctypes.c_char_p(path),
                ctypes.byref(how),
                ctypes.c_size_t(ctypes.sizeof(how)),
            )
        )

    def step(self, directory: int, name: bytes, flags: int) -> int:
        """Open one component, never following a link."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)

    def again(self, handle: int, flags: int) -> int:
        """Open the inode of an `O_PATH` handle again, for real."""
        return os.open(b"/proc/self/fd/%d" % handle, flags | os.O_CLOEXEC | os.O_NOCTTY)

    def stat(self, directory: int, name: bytes) -> os.stat_result:
        """Return the status of a name, links not followed."""
        return os.stat(name, dir_fd=directory, follow_symlinks=False)

    def lock(self, handle: int) -> bool:
        """Try to take the advisory lock of a directory; it is given back when the handle is closed."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def release(self, handle: int) -> None:
        """Close a handle that nothing was written through."""
        os.close(handle)

    def create(self, directory: int, name: bytes) -> int:
        """Create a private file that did not exist, and open it for writing."""
        return os.open(
            name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=directory
        )

    def write(self, handle: int, data: memoryview) -> int:
        """Write some of `data` and return how much."""
        return os.write(handle, data)

    def own(self, handle: int, uid: int, gid: int) -> None:
        """Set the owner."""
        os.fchown(handle, uid, gid)

    def permit(self, handle: int, mode: int) -> None:
        """Set the permission bits."""
        os.fchmod(handle, mode)

    def attribute(self, handle: int, name: str, value: bytes) -> None:
        """Set an extended attribute."""
        os.setxattr(handle, name, value)

    def sync(self, handle: int) -> None:
        """Make a file or a directory durable."""
        os.fsync(handle)

    def close(self, handle: int) -> None:
        """Close a file that was written."""
        os.close(handle)

    def settle(self, directory: int, old: bytes, new: bytes) -> None:
        """Rename, only where `new` does not exist."""
        self._rename(directory, old, directory, new, _NOREPLACE)

    def exchange(self, directory: int, one: bytes, other: bytes) -> None:
        """Swap two names in one step."""
        self._rename(directory, one, directory, other, _EXCHANGE)

    def carry(self, directory: int, old: bytes, other: int, new: bytes) -> None:
        """Rename into another directory, only where `new` does not exist."""
        self._rename(directory, old, other, new, _NOREPLACE)

    def swap(self, directory: int, one: bytes, other: int, second: bytes) -> None:
        """Swap two names of two directories in one step."""
        self._rename(directory, one, other, second, _EXCHANGE)

    def link(self, directory: int, target: bytes, name: bytes) -> None:
        """Make a symbolic link with the text `target`."""
        os.symlink(target, name, dir_fd=directory)

    def unlink(self, directory: int, name: bytes) -> None:
        """Remove a name."""
        os.unlink(name, dir_fd=directory)

    def make(self, directory: int, name: bytes) -> None:
        """Make a directory: 0777 less the umask."""
        os.mkdir(name, 0o777, dir_fd=directory)

    def unmake(self, directory: int, name: bytes) -> None:
        """Remove an empty directory."""
        os.rmdir(name, dir_fd=directory)

    def _rename(self, directory: int, old: bytes, other: int, new: bytes, flags: int) -> None:
        if _RENAME_NUMBER is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        _checked(
            _libc.syscall(
                ctypes.c_long(_RENAME_NUMBER),
                ctypes.c_int(directory),
                ctypes.c_char_p(old),
                ctypes.c_int(other),
                ctypes.c_char_p(new),
                ctypes.c_uint(flags),
            )
        )
