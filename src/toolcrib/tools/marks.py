"""Marks of hidden secrets in text that a caller writes back: what was not shown cannot be quoted."""

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
