"""The program that holds the accelerator's library `fff`, in a process of its own because the library may crash.

Started as a script with the library's path, in the root to search; it imports nothing of ours, so that it runs from any
place. It is asked over its input and answers over its output in frames: four bytes of length, highest first, then JSON.
It ends when its input does, even while the library works. The layouts are those of the library's header `fff.h` of
version 0.11, with create options of version 1; new fields are only ever appended.
"""

import ctypes
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, TypedDict

_MOST_FRAME = 1 << 20
_PAUSE = 0.005
_SETTLED = 0.1
_SHARES = 8
_ABSENT = "\U0010fffd"
"""A character of private use that no text holds."""
_ALL = 1 << 31
_REGEX = 1
_LARGEST = 10_000_000
"""Bytes of a file that the library surely looks into: it says 10 MiB, its description 10 MB."""


class _Result(Structure):
    _fields_ = (("success", c_bool), ("error", c_char_p), ("handle", c_void_p), ("int_value", c_int64))


class _Options(Structure):
    _fields_ = (
        ("version", c_uint32),
        *((name, c_char_p) for name in ("base_path", "frecency_db_path", "history_db_path")),
        *((name, c_bool) for name in ("enable_mmap_cache", "enable_content_indexing", "watch", "ai_mode")),
        *((name, c_char_p) for name in ("log_file_path", "log_level")),
        *((f"cache_budget_max_{name}", c_uint64) for name in ("files", "bytes", "file_size")),
        *((f"enable_{name}_scanning", c_bool) for name in ("fs_root", "home_dir")),
    )


class _Progress(Structure):
    _fields_ = (("files", c_uint64), ("scanning", c_bool), ("watching", c_bool), ("warm", c_bool))


class _Grep(Structure):
    _fields_ = (
        ("items", c_void_p),
        *((name, c_uint32) for name in ("count", "matched", "searched", "total", "filtered", "following")),
        ("fallback", c_char_p),
    )


_BOUNDS = (c_uint64, c_uint32, c_bool, c_uint32, c_uint32, c_uint64, c_bool, c_uint32, c_uint32, c_bool)
_RESULTS = {
    "fff_create_instance_with": (POINTER(_Options),),
    "fff_get_scan_progress": (c_void_p,),
    "fff_glob": (c_void_p, c_char_p, c_char_p, c_uint32, c_uint32, c_uint32),
    "fff_live_grep_ex": (c_void_p, c_char_p, c_uint8, *_BOUNDS),
    "fff_multi_grep_ex": (c_void_p, c_char_p, c_char_p, *_BOUNDS),
}
_VALUES = {
    "fff_search_result_get_count": ((c_void_p,), c_uint32),
    "fff_search_result_get_item": ((c_void_p, c_uint32), c_void_p),
    "fff_file_item_get_relative_path": ((c_void_p,), c_char_p),
    "fff_file_item_get_is_binary": ((c_void_p,), c_bool),
    "fff_file_item_get_size": ((c_void_p,), c_uint64),
    "fff_grep_result_get_match": ((c_void_p, c_uint32), c_void_p),
    "fff_grep_match_get_relative_path": ((c_void_p,), c_char_p),
    "fff_free_result": ((POINTER(_Result),), None),
    "fff_free_scan_progress": ((c_void_p,), None),
    "fff_free_search_result": ((c_void_p,), None),
    "fff_free_grep_result": ((c_void_p,), None),
}


class Asked(TypedDict):
    """A question: `do` is `scan`, or `find` at most `most` files with a text."""

    id: int
    do: str
    text: str
    regex: bool
    most: int
    milliseconds: int


class Answered(TypedDict):
    """An answer: the files that are searched, or those that hold the text; `total` is all that the library lists."""

    files: list[str]
    total: int
    whole: bool


class Index:
    """The library's index of one directory, made once and never renewed: nothing watches the tree."""

    def __init__(self, library: str, base: str) -> None:
        self._library = ctypes.CDLL(library)
        for name, arguments in _RESULTS.items():
            self._declare(name, arguments, POINTER(_Result))
        for name, (arguments, value) in _VALUES.items():
            self._declare(name, arguments, value)
        options = _Options(
            version=1,
            base_path=os.fsencode(base),
            enable_content_indexing=True,
            enable_home_dir_scanning=True,
            # No mapping is kept: one of a file that is cut short meanwhile kills whoever reads on in it.
            cache_budget_max_bytes=1,
        )
        self._base = base
        self._index = self._taken("fff_create_instance_with", ctypes.byref(options))

    def _declare(self, name: str, arguments: Sequence[Any], value: Any) -> None:
        function = self._library[name]
        function.argtypes = arguments
        function.restype = value
        setattr(self._library, name, function)

    def _taken(self, name: str, *arguments: object) -> int:
        """Call a function that answers with a result, and return what it holds.

        Raises:
            ValueError: the library says that it failed.
        """
        result = getattr(self._library, name)(*arguments)
        said = result.contents
        error, handle = None if said.success else said.error or b"failed", said.handle
        self._library.fff_free_result(result)
        if error is not None or not handle:
            raise ValueError((error or b"nothing").decode("utf-8", "replace"))
        return handle

    def scanned(self, seconds: float) -> Answered:
        """Wait until the index is made and settled, and return the files that it searches.

        It says that it is ready a moment before it has told the last binary files apart: so every file is read once
        more, by a search that no index narrows, and the list has to come out alike twice.
        """
        until = time.monotonic() + seconds
        while not self._is_ready():
            _pause(until, _PAUSE)
        self.found(_whole(_ABSENT, int(seconds * 1000)))
        before: Answered | None = None
        while True:
            listed = self._listed()
            if listed == before:
                return listed
            before = listed
            _pause(until, _SETTLED)

    def _listed(self) -> Answered:
        library = self._library
        listed = self._taken("fff_glob", self._index, b"*", None, 0, 0, _ALL)
        try:
            total = library.fff_search_result_get_count(listed)
            items = [library.fff_search_result_get_item(listed, number) for number in range(total)]
            files = [
                library.fff_file_item_get_relative_path(item).decode("utf-8", "replace")
                for item in items
                if not library.fff_file_item_get_is_binary(item) and library.fff_file_item_get_size(item) <= _LARGEST
            ]
        finally:
            library.fff_free_search_result(listed)
        return {"files": files, "total": total, "whole": True}

    def _is_ready(self) -> bool:
        progress = self._taken("fff_get_scan_progress", self._index)
        said = ctypes.cast(progress, POINTER(_Progress)).contents
        ready = not said.scanning and said.warm
        self._library.fff_free_scan_progress(progress)
        return ready

    def found(self, asked: Asked) -> Answered:
        """Return the files that hold what is asked for: lines of text, either of which counts, or an expression.

        It looks in shares of the time, and gives up as soon as what is left will not fit.
        """
        if not os.path.samestat(os.stat(self._base), os.stat(".")):
            raise ValueError("the directory is no longer where it was")
        began = time.monotonic()
        whole = asked["milliseconds"] / 1000
        answer: Answered = {"files": [], "total": 0, "whole": False}
        offset = 0
        while True:
            found, following, filtered = self._page(asked, offset, max(1, asked["milliseconds"] // _SHARES))
            answer["total"] = found["total"]
            answer["files"] += found["files"]
            answer["whole"] = following == 0
            spent = time.monotonic() - began
            too_long = spent > whole or spent * filtered > whole * following
            if following <= offset or too_long or len(answer["files"]) > asked["most"]:
                return answer
            offset = following

    def _page(self, asked: Asked, offset: int, milliseconds: int) -> tuple[Answered, int, int]:
        """Search from one file on; return what was found, the next file (0 for none), and how many there are."""
        text = asked["text"].encode()
        # No size, one line of a file, exact case, from that file on, so many files, so long, and no longer.
        bounds = (0, 1, False, offset, asked["most"] + 1, milliseconds, True, 0, 0, False)
        if asked["regex"]:
            found = self._taken("fff_live_grep_ex", self._index, text, _REGEX, *bounds)
        else:
            found = self._taken("fff_multi_grep_ex", self._index, text, None, *bounds)
        library = self._library
        try:
            said = ctypes.cast(found, POINTER(_Grep)).contents
            if said.fallback:
                raise ValueError(said.fallback.decode("utf-8", "replace"))
            matches = [library.fff_grep_result_get_match(found, number) for number in range(said.count)]
            files = [library.fff_grep_match_get_relative_path(each).decode("utf-8", "replace") for each in matches]
            return {"files": files, "total": said.total, "whole": False}, said.following, said.filtered
        finally:
            library.fff_free_grep_result(found)


def _pause(until: float, seconds: float) -> None:
    if time.monotonic() > until:
        raise ValueError("not ready in time")
    time.sleep(seconds)


def _whole(text: str, milliseconds: int) -> Asked:
    return {"id": 0, "do": "find", "text": text, "regex": False, "most": 1, "milliseconds": milliseconds}


def main() -> None:
    """Answer until the input ends."""
    asked: queue.SimpleQueue[Asked] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    index: Index | None = None
    while True:
        one = asked.get()
        said: dict[str, object] = {"id": one["id"]}
        try:
            if one["do"] == "scan":
                index = Index(sys.argv[1], os.getcwd())
                said.update(index.scanned(one["milliseconds"] / 1000))
            elif index is None:
                said["error"] = "not scanned"
            else:
                said.update(index.found(one))
        except (OSError, ValueError, AttributeError) as error:
            said["error"] = str(error)[:500]
        data = json.dumps(said).encode()
        sys.stdout.buffer.write(len(data).to_bytes(4) + data)
        sys.stdout.buffer.flush()


def _listen(asked: "queue.SimpleQueue[Asked]") -> None:
    """Take questions in; the end of the input is the end of the program, whatever it is doing."""
    source = sys.stdin.buffer
    while True:
        head = source.read(4)
        size = int.from_bytes(head)
        data = source.read(size) if len(head) == 4 and size <= _MOST_FRAME else b""
        if not data or len(data) < size:
            os._exit(0)
        asked.put(json.loads(data))


if __name__ == "__main__":
    main()
