"""What only putting back needs: links and directories made where nothing stands, and the mode of a directory."""

import os

from toolcrib.host.workspace.aim import aim, permit
from toolcrib.host.workspace.base import Base
from toolcrib.host.workspace.faults import fault, shown
from toolcrib.ports.scope import Scope
from toolcrib.terms.facts import PathKind
from toolcrib.terms.refusals import Refusal

_DIRECTORY: frozenset[PathKind] = frozenset({"directory"})


def link(base: Base, scope: Scope, path: str, target: str) -> None:
    """Make a link with the text `target` at `path`.

    Raises:
        Refusal: as `ports.files.Files.write`.
    """
    with aim(base, scope, path, "write", follow=False) as found:
        found.permit()
        try:
            base.calls.link(found.directory, os.fsencode(target), found.leaf)
            base.calls.sync(found.directory)
        except FileExistsError:
            raise Refusal("file.exists", f"expected nothing at {shown(path)}, found that something is there") from None
        except OSError as error:
            raise fault(error, path, "write") from None


def make(base: Base, scope: Scope, path: str) -> None:
    """Make the directory at `path`; one that exists is left as it is.

    Raises:
        Refusal: as `ports.files.Files.write`.
    """
    with aim(base, scope, path, "write", kinds=_DIRECTORY, follow=False) as found:
        found.permit()
        if found.status is not None:
            return
        try:
            base.calls.make(found.directory, found.leaf)
            base.calls.sync(found.directory)
        except FileExistsError:
            return
        except OSError as error:
            raise fault(error, path, "write") from None


def set_mode(base: Base, scope: Scope, path: str, mode: int) -> None:
    """Set the permission bits of the directory at the canonical `path`; nothing where it already has them.

    Raises:
        Refusal: as `ports.files.Files.write`.
    """
    permit(base, scope, path, path)
    try:
        handle = base.reach(os.fsencode(path), os.O_RDONLY | os.O_DIRECTORY, links=False)
        try:
            if os.fstat(handle).st_mode & 0o7777 != mode & 0o3777:
                base.calls.permit(handle, mode & 0o3777)
                base.calls.sync(handle)
        finally:
            base.calls.release(handle)
    except OSError as error:
        raise fault(error, path, "write") from None
