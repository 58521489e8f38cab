"""One open workspace: the root handle and what is bound to it."""

import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from toolcrib.host.workspace import journal, read, remove, restore, write
from toolcrib.host.workspace.base import Base, relative, resolve
from toolcrib.host.workspace.calls import O_PATH, RESOLVE_BENEATH, Calls
from toolcrib.host.workspace.faults import fault, kind_of, not_regular
from toolcrib.host.workspace.files import Bound
from toolcrib.host.workspace.guard import guard
from toolcrib.host.workspace.hands import Hands
from toolcrib.host.workspace.known import Known
from toolcrib.host.workspace.sweep import Swept, sweep
from toolcrib.ports.files import Files, Loaded, Written
from toolcrib.ports.scope import Scope
from toolcrib.terms.errors import WorkspaceError
from toolcrib.terms.facts import Place
from toolcrib.terms.settings import FileSettings

T = TypeVar("T")


class Workspace:
    """A directory and everything beneath it. The methods that are not async block; call them from a worker thread."""

    def __init__(self, base: Base) -> None:
        self._base = base

    @classmethod
    def open(
        cls, root: str, *, settings: FileSettings, protected: Sequence[str] = (), calls: Calls | None = None
    ) -> "Workspace":
        """Open the directory `root`, which may be a link to one.

        Raises:
            WorkspaceError: it does not exist, is not a directory, cannot be opened, or /proc is not mounted.
        """
        given = os.fsencode(os.path.abspath(root))
        doors = calls or Calls()
        try:
            handle = os.open(given, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except NotADirectoryError:
            raise WorkspaceError(f"{root!r} is not a directory", hint="Name a directory.") from None
        except (OSError, ValueError) as error:
            why = os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
            raise WorkspaceError(f"cannot open {root!r}: {why}", hint="Name a directory that exists.") from None
        try:
            path = os.readlink(b"/proc/self/fd/%d" % handle)
            umask = _umask()
        except OSError:
            os.close(handle)
            raise WorkspaceError("/proc is not mounted", hint="Mount /proc: real paths are read from it.") from None
        kernel = _has_openat2(doors, handle)
        return cls(
            Base(
                fd=handle,
                root=path,
                given=given,
                calls=doors,
                settings=settings,
                guard=guard(protected),
                umask=umask,
                known=Known(),
                hands=Hands(),
                kernel=kernel,
            )
        )

    @property
    def root(self) -> str:
        """The absolute path of the root when it was opened, links resolved."""
        return os.fsdecode(self._base.root)

    @property
    def fd(self) -> int:
        """The root handle. It stays the workspace's own: do not close it."""
        return self._base.fd

    @property
    def confined_by(self) -> str:
        """Which call keeps paths beneath the root: `openat2`, or `walk` where it is missing."""
        return "openat2" if self._base.kernel else "walk"

    def within(self, scope: Scope) -> Files:
        """Return the files as one call may touch them."""
        return Bound(self._base, scope)

    async def aside(self, work: Callable[[], T]) -> T:
        """Have `work`, which only reads, done by one of the threads that touch the files."""
        return await self._base.hands.read(work)

    def relative(self, path: str) -> str:
        """Return `path` as text relative to the root, links not yet followed.

        Raises:
            Refusal: `args.invalid`, `file.outside`.
        """
        return os.fsdecode(relative(self._base, path))

    def open_directory(self, path: str) -> int:
        """Open the directory at `path` for listing; the caller closes the handle.

        Raises:
            Refusal: `file.missing`, `file.not_directory`, `file.outside`, `file.denied`, `workspace.gone`.
        """
        return self._open(path, os.O_RDONLY | os.O_DIRECTORY)

    def open_file(self, path: str) -> int:
        """Open the regular file at `path` for reading; the caller closes the handle.

        Raises:
            Refusal: also `file.not_regular`.
        """
        handle = self._open(path, O_PATH)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise not_regular(path, kind_of(status.st_mode))
            return self._base.calls.again(handle, os.O_RDONLY)
        except OSError as error:
            raise fault(error, path, "read") from None
        finally:
            self._base.calls.release(handle)

    def canonical(self, handle: int) -> str:
        """Return the path of an open handle now, relative to the root; `.` for the root.

        Raises:
            FileNotFoundError: the inode has no name any more.
            Refusal: `file.outside`, `workspace.gone`.
        """
        return self._base.canonical(handle)

    def protects(self, path: str) -> bool:
        """Tell whether the canonical `path` is protected by its spelling. A write checks the inode too."""
        return self._base.guard.names_protected(path)

    def link_text(self, path: str) -> str:
        """Return the text of the link at `path`.

        Raises:
            Refusal: also `file.stale` when no link stands there any more.
        """
        with resolve(self._base, path, follow=False) as spot:
            if spot.place().kind != "symlink":
                raise write.stale(path, "it is no link any more")
            return read.link_text(spot)

    def place(self, path: str, *, digest: bool = False, follow: bool = True, own: bool = False) -> Place:
        """Resolve `path` as `Files.place`, whatever a rule says; with `digest`, read and hash a file of any size.

        With `own`, a file that this workspace has just written is not read again: `Known.written`.
        """
        fresh: read.Fresh = "own" if own else "always"
        return read.place(self._base, Scope(), path, digest=digest, most=None, fresh=fresh, follow=follow)

    def load(self, path: str, *, most: int, keep_for: str = "") -> Loaded:
        """Read a whole file as `Files.load`, whatever a rule says of it, and keep it for a reading of that call."""
        return read.load(self._base, Scope(), path, most=most, keep_for=keep_for)

    def put(self, scope: Scope, put: write.Put) -> Written:
        """Write as `Files.write`; with `put.forced` a read-only file too."""
        return write.write(self._base, scope, put)

    def remove(self, scope: Scope, path: str, *, expect: str | None) -> None:
        """Remove a file or a link as `Files.remove`, a read-only file too."""
        remove.remove(self._base, scope, path, expect=expect, forced=True)

    def link(self, scope: Scope, path: str, target: str) -> None:
        """Make a link with the text `target` where nothing stands, durably; parents are created.

        Raises:
            Refusal: as `Files.write`.
        """
        restore.link(self._base, scope, path, target)

    def make(self, scope: Scope, path: str) -> None:
        """Make a directory where nothing stands, durably; parents are created. One that exists is left as it is.

        Raises:
            Refusal: as `Files.write`.
        """
        restore.make(self._base, scope, path)

    def set_mode(self, scope: Scope, path: str, mode: int) -> None:
        """Set the permission bits of the directory at the canonical `path`, never setuid.

        Raises:
            Refusal: as `Files.write`.
        """
        restore.set_mode(self._base, scope, path, mode)

    def unmake(self, path: str) -> bool:
        """Remove the directory at the canonical `path` if it is empty; tell whether it was."""
        return remove.unmake(self._base, path)

    def sweep(self, call_id: str, paths: Sequence[str], pre: Mapping[str, str | None]) -> tuple[str, ...]:
        """Clear what a dead call left beside `paths`, and return what was kept aside as another program's.

        A path above another of `paths` is a directory that the call had to create; it goes when it is empty.
        """
        swept = self.clear(call_id, paths, pre)
        return tuple(each.path for each in swept if each.found == "kept")

    def clear(self, call_id: str, paths: Sequence[str], pre: Mapping[str, str | None]) -> tuple[Swept, ...]:
        """Clear as `sweep`, and return everything that was found."""
        above = parents_among(paths)
        files = [path for path in paths if path not in above]
        return sweep(self._base, call_id, files, pre, [path for path in above if pre.get(path) is None])

    def journal(self, call_id: str) -> Mapping[str, str | None] | None:
        """Return what a dead call was about to make of several paths: path to digest, None where it had no such thing.

        Raises:
            Refusal: `call.fault` for a journal that cannot be read.
        """
        return journal.read(self._base, call_id)

    def end_journal(self, call_id: str) -> None:
        """Remove the journal of a call whose changes are decided."""
        journal.end(self._base, call_id)

    def close(self) -> None:
        """End the threads and close the root handle; it stays open where a thread hangs in it."""
        if self._base.hands.close():
            os.close(self._base.fd)

    def _open(self, path: str, flags: int) -> int:
        try:
            return self._base.reach(relative(self._base, path), flags)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                self._base.alive()
            raise fault(error, path, "read") from None


def parents_among(paths: Sequence[str]) -> tuple[str, ...]:
    """Return those of `paths` that lie above another of them, deepest first."""
    above = {path for path in paths if any(other.startswith(f"{path}/") for other in paths)}
    return tuple(sorted(above, key=lambda path: (-path.count("/"), path)))


def _has_openat2(calls: Calls, handle: int) -> bool:
    try:
        calls.release(calls.beneath(handle, b".", O_PATH, RESOLVE_BENEATH))
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EPERM}:
            return False
        raise
    return True


def _umask() -> int:
    """Return the umask without changing it: proc_pid_status(5), field `Umask`, since Linux 4.7."""
    with open("/proc/self/status", "rb") as status:
        return next((int(line.split()[1], 8) for line in status if line.startswith(b"Umask:")), 0o077)
