"""What new text may not hold: marks of hidden secrets, which cannot be quoted, and NUL, which makes text binary."""

from collections.abc import Sequence

from toolcrib.terms.redaction import foreign_mark
from toolcrib.terms.refusals import Refusal


def refuse_marks(texts: Sequence[str], known: str) -> None:
    """Refuse text that would put the mark of a hidden secret in the place of the secret itself."""
    for text in texts:
        if (mark := foreign_mark(text, known)) is not None:
            raise Refusal(
                "args.invalid",
                f"the new text holds {mark}, which stands for a secret that was not shown; the secret would be lost",
                hint="change only the other lines, with edit_file",
            )


def refuse_nul(texts: Sequence[str], known: str | bytes = "") -> None:
    """Refuse text with a NUL for a file without: no tool would take the file for text afterwards."""
    if "\0" not in known if isinstance(known, str) else b"\0" not in known:
        for text in texts:
            if (at := text.find("\0")) >= 0:
                raise Refusal(
                    "args.invalid",
                    f"the new text holds a NUL character, its character {at + 1}; only text is written",
                    hint="write it as the escape of the language that the file is in, or leave it out",
                )
