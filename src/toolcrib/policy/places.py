"""Paths with a rule of their own whatever a person configures: never written, or written only with a yes."""

from collections.abc import Sequence

from toolcrib.policy.match import folded

PROTECTED = (".git", ".toolcrib")
"""Names that are never written, at any depth, with all that is beneath them."""

HOST_RUN = (
    ".mcp.json",
    ".claude",
    ".cursor",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".husky",
    ".envrc",
    ".github/workflows",
    ".agents",
    ".gitmodules",
)
"""Files and directories that other programs on this machine run or obey, at any depth: a write asks in every mode."""

_PROTECTED = frozenset(folded(name) for name in PROTECTED)
_HOST_RUN = tuple(tuple(folded(name).split("/")) for name in HOST_RUN)


def protected(path: str, *, further: Sequence[str] = ()) -> str | None:
    """Return the protected name that the canonical `path` is or lies beneath, in any case and normal form.

    `further` are configured paths relative to the workspace.
    """
    names = folded(path).split("/")
    found = next((name for name in names if name in _PROTECTED), None)
    if found is not None:
        return found
    for each in further:
        wanted = folded(each.strip("/").removeprefix("./")).split("/")
        if names[: len(wanted)] == wanted:
            return each
    return None


def host_run(path: str) -> str | None:
    """Return the host-run name that the canonical `path` is, lies beneath or would bring along as a directory."""
    names = folded(path).split("/")
    for wanted in _HOST_RUN:
        for start in range(len(names)):
            part = tuple(names[start : start + len(wanted)])
            if part == wanted or (start + len(part) == len(names) and part == wanted[: len(part)]):
                return "/".join(wanted)
    return None


def is_canonical(path: str) -> bool:
    """Tell whether `path` is workspace-relative with no empty, `.` or `..` part; the root is `.`."""
    if path == ".":
        return True
    return bool(path) and "\0" not in path and not any(name in {"", ".", ".."} for name in path.split("/"))
