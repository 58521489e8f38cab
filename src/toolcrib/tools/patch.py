"""The family `patch`: changes to several files by one patch, all or none. Reading patches is in `patchtext`."""

from typing import Literal

from pydantic import BaseModel, Field

from toolcrib.ports.context import Context
from toolcrib.ports.files import Alteration, Files
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.outcome import Change, Evidence
from toolcrib.terms.payload import Answer, Arguments, Payload
from toolcrib.terms.tool import Previewed, tool
from toolcrib.tools.difftext import MOST, MOST_PREVIEW, Diff
from toolcrib.tools.patching import Patched, diffs, prepare
from toolcrib.tools.patchtext import touched
from toolcrib.tools.plain import counted, one_line, short
from toolcrib.tools.prose import load

_PROSE = load("patch")


class ApplyPatch(Arguments):
    """Parameters of `apply_patch`."""

    patch: str = Field(min_length=1, description="A unified diff, or '*** Begin Patch' to '*** End Patch'.")


class PatchedFile(Payload):
    """What became of one file. `was` is its name before it was moved; `digest` None where it is gone."""

    path: str
    action: Literal["updated", "added", "deleted", "moved"]
    was: str | None = None
    digest: str | None = None
    added: int = 0
    removed: int = 0
    shifted: bool = False

    def text(self) -> str:
        """Return one line."""
        name = one_line(self.path) if self.was is None else f"{one_line(self.was)} to {one_line(self.path)}"
        mark = f"; digest {short(self.digest)}" if self.digest else ""
        moved = "; at other lines than the patch names" if self.shifted else ""
        return f"{self.action} {name} (+{self.added:,} -{self.removed:,}){mark}{moved}"


class PatchApplied(Payload):
    """What `apply_patch` answers: each file in the order of the patch, and one diff."""

    files: tuple[PatchedFile, ...]
    created_directories: tuple[str, ...] = ()
    diff: str = Field(default="", exclude=True)

    def text(self) -> str:
        """Return the count, one line a file, and the diff."""
        said = [f"patched {counted(len(self.files), 'file')}:", *(each.text() for each in self.files)]
        if self.created_directories:
            said.append(f"made {', '.join(map(one_line, self.created_directories))}")
        return "\n".join([*said, self.diff.rstrip("\n")] if self.diff else said)


def _touched(args: BaseModel) -> tuple[str, ...]:
    return touched(args.patch) if isinstance(args, ApplyPatch) else ()


async def _preview(args: ApplyPatch, files: Files, context: Context) -> Previewed:
    patched = await prepare(args.patch, files, context.facts)
    found = await diffs(patched, MOST_PREVIEW)
    said = [f"{each.verb} {one_line(each.shown)} ({diff})" for each, diff in zip(patched, found, strict=True)]
    return Previewed(f"patch {counted(len(patched), 'file')}: {', '.join(said)}", "".join(diff.text for diff in found))


@tool(
    kind="write",
    effect="reversible",
    reads=_touched,
    writes=_touched,
    follows=False,
    pins="digest",
    preview=_preview,
    summary="Change several files by a unified diff or an envelope patch: all or none; returns the diff.",
    prefer_over="patch or git apply in a shell",
    description=_PROSE["apply_patch"],
    refusals=(
        "args.invalid",
        "patch.invalid",
        "call.limit",
        "file.stale",
        "file.ambiguous",
        "file.no_match",
        "file.unchanged",
        "file.exists",
        "file.missing",
        "file.outside",
        "file.protected",
        "file.not_regular",
        "file.not_directory",
        "file.denied",
        "file.too_large",
        "file.binary",
        "file.read_only",
        "file.linked",
        "workspace.gone",
        "disk.full",
    ),
)
async def apply_patch(args: ApplyPatch, files: Files, context: Context) -> Answer[PatchApplied]:
    """Apply a patch; see the family's page."""
    patched = await prepare(args.patch, files, context.facts)
    made = await files.alter([change for each in patched for change in _alterations(each)])
    found = await diffs(patched, MOST)
    told = tuple(_told(each, diff) for each, diff in zip(patched, found, strict=True))
    payload = PatchApplied(files=told, created_directories=made, diff="".join(diff.text for diff in found))
    changed = tuple(change for each, now in zip(patched, told, strict=True) for change in _changes(each, now.digest))
    return Answer(payload, evidence=Evidence(diff=payload.diff or None, changed=changed))


def _told(each: Patched, diff: Diff) -> PatchedFile:
    return PatchedFile(
        path=each.path,
        action=each.action,
        was=each.renamed,
        digest=None if each.data is None else of_bytes(each.data),
        added=diff.added,
        removed=diff.removed,
        shifted=each.shifted,
    )


def _alterations(each: Patched) -> list[Alteration]:
    """Return what is done to the names of one section: the new one first, which copies from the old one."""
    if each.renamed is None:
        return [Alteration(path=each.path, data=each.data, expect=each.before_digest, mode=each.mode)]
    new = Alteration(path=each.path, data=each.data, expect=None, mode=each.mode, like=each.renamed)
    return [new, Alteration(path=each.renamed, data=None, expect=each.before_digest)]


def _changes(each: Patched, after: str | None) -> list[Change]:
    if each.renamed is None:
        return [Change(each.path, each.before_digest, after)]
    return [Change(each.renamed, each.before_digest, None), Change(each.path, None, after)]
