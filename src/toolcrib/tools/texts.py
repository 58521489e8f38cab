"""The text of a file that is to be changed in part, or why there is none."""

from toolcrib.ports.files import Loaded
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import Decoded, decode, encoding_of, looks_binary


def text_of(before: Loaded, path: str) -> Decoded:
    """Return the text of a file.

    Raises:
        Refusal: `file.binary` when it is none; also when it begins as UTF-16 and is damaged: its bytes would be kept,
            but what is put between them would be of another encoding.
    """
    if looks_binary(before.data):
        raise Refusal("file.binary", f"{path!r} is not text ({len(before.data):,} bytes with NUL among the first)")
    decoded = decode(before.data)
    mark = encoding_of(before.data)
    if decoded.encoding == "bytes" and mark in {"utf-16-le", "utf-16-be"}:
        raise Refusal("file.binary", f"{path!r} begins as {mark} and does not go on so: it is damaged, or not text")
    return decoded
