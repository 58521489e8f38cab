"""The process that command lines of the tests are forked from: everything is loaded, and nothing has run.

Started as `python nursery.py DIRECTORY`; listens at `DIRECTORY/socket` until standard input closes. A request is one
line of JSON (words, directory, environment, files for the descriptors 0 to 2); the answers are the process id and, at
its end, the exit code.
"""

import json
import os
import select
import socket
import sys
import traceback
from importlib import import_module
from typing import Any

from toolcrib.faces.cli.app import COMMANDS, run

CAT = "cat"
"""First word of a request that prints the named files as they are: what a program that escapes nothing does."""


def load() -> None:
    """Load every command, and what commands load when they need it."""
    for listed in COMMANDS:
        import_module(listed.module)
    for name in ("switch", "grid", "home"):
        import_module(f"toolcrib.faces.cli.{name}")


def become(request: dict[str, Any]) -> int:
    """Take on the request's session, descriptors, directory and environment, and run its words."""
    os.setsid()
    for number, path in request["files"].items():
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # a terminal becomes the session's own by this
        os.dup2(descriptor, int(number))
        os.close(descriptor)
    os.chdir(request["at"])
    os.environ.clear()
    os.environ.update(request["env"])
    if request["words"][:1] == [CAT]:
        for path in request["words"][1:]:
            with open(path, "rb") as file:
                os.write(1, file.read())
        return 0
    return run(request["words"])


def command(request: dict[str, Any]) -> int:
    """Fork the command itself and return its process id."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        code = become(request)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - the last frame of a process
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)


def serve(link: socket.socket) -> None:
    """Answer one request."""
    with link, link.makefile("rb") as lines:
        child = command(json.loads(lines.readline()))
        link.sendall(b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        try:
            link.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        except BrokenPipeError:
            return


def main(place: str) -> None:
    """Listen until standard input closes."""
    load()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(f"{place}/socket")
        listener.listen(16)
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([0, listener], [], [])
            if 0 in ready:
                break
            link, _ = listener.accept()
            if not os.fork():
                if not os.fork():
                    listener.close()
                    serve(link)
                os._exit(0)
            link.close()
            os.wait()
    os.unlink(f"{place}/socket")


if __name__ == "__main__":
    main(sys.argv[1])
