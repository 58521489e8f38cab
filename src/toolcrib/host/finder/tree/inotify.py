"""The kernel's file events, inotify(7): watches of directories, and the events that are queued for them.

Events of one instance are read in the order in which the changes were made, whatever directory each lies in.
"""

import ctypes
import os
import struct
import time
from typing import NamedTuple

MODIFY = 0x00000002
ATTRIB = 0x00000004
CLOSE_WRITE = 0x00000008
MOVED_FROM = 0x00000040
MOVED_TO = 0x00000080
CREATE = 0x00000100
DELETE = 0x00000200
DELETE_SELF = 0x00000400
MOVE_SELF = 0x00000800
UNMOUNT = 0x00002000
OVERFLOW = 0x00004000
IGNORED = 0x00008000

_ONLYDIR = 0x01000000
_EXCL_UNLINK = 0x04000000
_WATCHED = (
    *(MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF, MOVE_SELF),
    *(_ONLYDIR, _EXCL_UNLINK),
)
_MASK = sum(_WATCHED)
_HEAD = struct.Struct("iIII")
_AT_ONCE = 256 << 10
"""Bytes of events for one read: about 8,000 of them."""

_libc = ctypes.CDLL(None, use_errno=True)


class Event(NamedTuple):
    """One event. `watch` is -1 for an overflow; `name` is empty where the directory itself is meant."""

    watch: int
    mask: int
    name: str


class Inotify:
    """One queue of events. Not safe for threads: whoever uses it holds a lock.

    Raises:
        OSError: EMFILE when the person has no instance left, ENOSYS where the kernel has none.
    """

    def __init__(self) -> None:
        self.handle = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._cookie = -1
        try:
            # A file that no name leads to: only the barrier changes it, and nothing of it is left behind.
            self._cookie = os.memfd_create("toolcrib-barrier", os.MFD_CLOEXEC)
            self._mine = self._add(self._cookie, ATTRIB)
        except OSError:
            self.close()
            raise

    def barrier(self, most: float) -> list[Event]:
        """Return all events of changes made before this call; an event of our own marks where they end.

        Raises:
            TimeoutError: more events came than could be read in `most` seconds.
            OSError: the queue is broken.
        """
        until = time.monotonic() + most
        found: list[Event] = []
        os.fchmod(self._cookie, 0o600)
        while True:
            events = self.read()
            found += events
            if any(each.watch == self._mine for each in reversed(events)):
                return [each for each in found if each.watch != self._mine]
            if time.monotonic() > until:
                raise TimeoutError

    def watch(self, directory: int) -> int:
        """Watch an open directory and return the number of the watch: the same again for the same directory.

        Raises:
            OSError: ENOSPC when the person has no watch left.
        """
        return self._add(directory, _MASK)

    def forget(self, watch: int) -> None:
        """Take a watch away; one that is gone already is no fault."""
        _libc.inotify_rm_watch(self.handle, watch)

    def read(self) -> list[Event]:
        """Return what is queued, as much as one read takes; empty when nothing is. Never waits."""
        try:
            data = os.read(self.handle, _AT_ONCE)
        except BlockingIOError:
            return []
        events: list[Event] = []
        at, size, unpack = 0, len(data), _HEAD.unpack_from
        while at < size:
            watch, mask, _, length = unpack(data, at)
            at += 16
            name = data[at : at + length].partition(b"\0")[0] if length else b""
            at += length
            events.append(Event(watch, mask, os.fsdecode(name)))
        return events

    def close(self) -> None:
        """Close the queue; its watches go with it."""
        for handle in (self.handle, self._cookie):
            if handle >= 0:
                os.close(handle)
        self.handle = self._cookie = -1

    def _add(self, file: int, mask: int) -> int:
        path = b"/proc/self/fd/%d" % file
        return _checked(_libc.inotify_add_watch(self.handle, ctypes.c_char_p(path), ctypes.c_uint32(mask)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
