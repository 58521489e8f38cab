"""Random files and the patterns that are looked for in them: every form of text, every construct of the syntax."""

from hypothesis import strategies as st

from toolcrib.ports.find import GrepOutput, Query

# Letters with a case, with two, with none; digits and blanks of other scripts; what ends a line elsewhere.
LETTERS = st.sampled_from(
    [*"aabbc d_-.Z1é\tñßK", "ſ", "\u212a", "日", "٣", "\u2028", "\x0c", "\x85", "İ", "\U0001f171"]
)
LINE = st.text(LETTERS, max_size=12)
ODD = st.sampled_from([b"\xff", b"\xe9", b"\xc3", b"\xe0\x80", b"\x80", b"\xed\xa0\x80"])

ATOMS = st.sampled_from(
    [
        *("a", "b", "c", ".", r"\w", r"\d", r"\s", r"\W", r"\S", r"\D", "[ab]", "[^a]", "é", "K", "[a-c_]", r"[^\w]"),
        *(r"\.", " ", "(?i:k)", r"\p{L}", r"\P{L}", r"[\W_]", "[[:alpha:]]", "[^[:space:]]", r"\x{e9}", "ß", "s"),
        *(r"[\s\S]", r"\t", "-", "日", r"[^\W\d]", r"\r", r"\pN", r"[\PL]", "(?s:.)", "{", "]", "[[:^digit:]x]"),
    ]
)
ACROSS = st.sampled_from([r"\n", r"\s", "[^b]", r"\r\n"])
TIMES = st.sampled_from(["", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "*?", "+?"])


def expressions(*, multiline: bool) -> st.SearchStrategy[str]:
    """Return patterns; ends of lines stand at the ends, because a place before a word's end is read apart."""
    atoms = st.tuples(ATOMS | ACROSS if multiline else ATOMS, TIMES).map("".join)
    words = st.sampled_from(["", "", "", "", r"\b", r"\B"])
    parts = st.recursive(
        st.tuples(words, atoms, words).map("".join),
        lambda inner: (
            st.tuples(st.lists(inner, min_size=1, max_size=2).map("|".join), TIMES).map(
                lambda each: f"({each[0]}){each[1]}"
            )
            | st.lists(inner, min_size=1, max_size=3).map("".join)
        ),
        max_leaves=5,
    )
    return st.tuples(st.sampled_from(["", "", "^"]), parts, st.sampled_from(["", "", "$"])).map("".join)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = end.join(draw(st.lists(LINE, max_size=7))) + draw(st.sampled_from(["", end]))
    form = draw(st.integers(0, 9))
    if form < 5:
        return text.encode()
    if form == 5:
        return b"\xef\xbb\xbf" + text.encode()
    if form == 6:
        return text.encode("utf-16")
    if form == 7:
        return b"\xfe\xff" + text.encode("utf-16-be")
    if form == 8:
        return b"x" * draw(st.sampled_from([0, 9000])) + b"\n" + text.encode() + b"\0" + text.encode()
    raw = text.encode()
    at = draw(st.integers(0, len(raw)))
    return raw[:at] + draw(ODD) + raw[at:]


NAMES = st.sampled_from(["f.txt", "d/f.txt", "e:1/g\nh.py", "é.md", "k", "d/x y.js", "-n.txt"])
OUTPUTS: tuple[GrepOutput, ...] = ("lines", "lines", "count", "files")


@st.composite
def queries(draw: st.DrawFn) -> Query:
    multiline = draw(st.integers(0, 2)) == 0
    plain = draw(st.integers(0, 3)) == 0
    return Query(
        pattern=draw(st.text(LETTERS, min_size=1, max_size=4) if plain else expressions(multiline=multiline)),
        mode="plain" if plain else "regex",
        multiline=multiline,
        ignore_case=draw(st.booleans()),
        context=draw(st.sampled_from([0, 0, 1])),
        output=draw(st.sampled_from(OUTPUTS)),
        limit=draw(st.sampled_from([2, 1000])),
    )


def is_text(data: bytes) -> bool:
    """Tell whether a file is text in one of the encodings."""
    try:
        data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8")
    except UnicodeDecodeError:
        return False
    return True
