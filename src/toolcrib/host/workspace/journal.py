"""The journal of several changes that are made together: durable before the first, gone after the last.

It is one file beside the root's entries, under a temporary name that is made from the call's id. It says what each path
is about to hold, so that recovery puts back what the dead call made and leaves alone what anybody made since.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from toolcrib.host.workspace.base import Base
from toolcrib.host.workspace.faults import fault
from toolcrib.host.workspace.temp import tag
from toolcrib.terms.names import JOURNAL, TEMP_PREFIX
from toolcrib.terms.refusals import Refusal

_MOST = 1 << 20  # bytes; a hundred paths of 4,095 bytes with their digests are less than half of it


def begin(base: Base, call_id: str, made: Mapping[str, str | None]) -> None:
    """Write what each path is about to hold, durably.

    Raises:
        OSError: nothing is left behind then.
    """
    name, calls = _name(call_id), base.calls
    data = memoryview(json.dumps(dict(made)).encode())
    handle = calls.create(base.fd, name)
    try:
        try:
            while data:
                data = data[calls.write(handle, data) :]
            calls.sync(handle)
        finally:
            calls.close(handle)
        calls.sync(base.fd)
    except OSError:
        with suppress(OSError):
            calls.unlink(base.fd, name)
        raise


def end(base: Base, call_id: str) -> None:
    """Remove the journal, durably; nothing where there is none.

    A journal that cannot be removed is harmless: it is only read for a call that did not end.
    """
    with suppress(OSError):
        base.calls.unlink(base.fd, _name(call_id))
        base.calls.sync(base.fd)


def read(base: Base, call_id: str) -> Mapping[str, str | None] | None:
    """Return what the journal of a call says, None where there is none, or one that was not finished.

    Raises:
        Refusal: the operating system does not let it be read.
    """
    try:
        handle = base.calls.step(base.fd, _name(call_id), os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise fault(error, "the journal of a call", "read") from None
    try:
        data = os.pread(handle, _MOST, 0)
    finally:
        base.calls.release(handle)
    try:
        found: object = json.loads(data)
    except ValueError:
        return None  # it was being written: no name had changed yet
    if not isinstance(found, dict):
        raise Refusal("call.fault", "the journal of a call is damaged")
    made = cast("dict[str, object]", found)
    return {path: digest if isinstance(digest, str) else None for path, digest in made.items()}


def _name(call_id: str) -> bytes:
    return f"{TEMP_PREFIX}{tag(call_id)}-{JOURNAL}".encode()
