r"""The redaction set: what counts as a secret in anything that is shown or taped. This file is the whole of it.

Known shapes, each within one line unless said otherwise, also through terminal colour codes:

* keys of AWS (access key ids; secret keys and session tokens where a name announces them), GitHub, GitLab, Slack,
  OpenAI, Anthropic, Google, Stripe, npm, PyPI, Hugging Face, xAI, Groq, DigitalOcean and Docker;
* private keys in PEM, over all their lines, also where the lines are escaped as `\n` or the end is missing;
* the value of an `Authorization` header of scheme Bearer, Basic or Token;
* the password in the user part of a URL.

Values given by configuration: as they are, percent-encoded, JSON-escaped, in base64 (standard and URL-safe, at any of
the three alignments), in hexadecimal; each also through terminal colour codes and where line breaks, and nothing else,
split it.

No wider claim is made: not for other encodings, compression, encryption, a value shorter than `SHORTEST`, a value
spread over several JSON strings, line breaks with indentation or line numbers between, or the rest of a private key
whose first line was not read.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from toolcrib.terms.digest import Json

SHORTEST = 8
"""Fewest characters of a configured value: a shorter one would be found everywhere."""

_WORD = "A-Za-z0-9_-"
_COLOUR = r"\x1b\[[0-?]*[ -/]*[@-~]"
_GAP = rf"(?:{_COLOUR}|\r?\n)*"


@dataclass(frozen=True, slots=True)
class Shape:
    """A known kind of token. A word of it, 20 characters or longer, begins with one of `starts` or follows `AFTER`."""

    name: str
    starts: tuple[str, ...]
    pattern: str


SHAPES: tuple[Shape, ...] = (
    Shape("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), rf"A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{{16}}(?![{_WORD}])"),
    Shape(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    ),
    Shape(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-"),
        rf"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-[{_WORD}]{{20,300}}",
    ),
    Shape("slack-token", ("xox", "xapp-"), r"xox[abceoprs]-[A-Za-z0-9-]{16,300}|xapp-[0-9]-[A-Za-z0-9-]{16,300}"),
    Shape("slack-webhook", (), r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{30,200}"),
    Shape("anthropic-key", ("sk-ant-",), rf"sk-ant-[a-z0-9]{{3,12}}-[{_WORD}]{{32,200}}"),
    Shape(
        "openai-key",
        ("sk-",),
        rf"sk-(?:proj|svcacct|admin|None)-[{_WORD}]{{40,300}}|sk-[A-Za-z0-9]{{32,100}}(?![{_WORD}])"
        rf"|sk-or-v1-[0-9a-f]{{64}}",
    ),
    Shape("google-key", ("AIza", "GOCSPX-"), rf"AIza[{_WORD}]{{35}}(?![{_WORD}])|GOCSPX-[{_WORD}]{{28}}(?![{_WORD}])"),
    Shape("google-token", (), rf"ya29\.[{_WORD}]{{20,2000}}"),
    Shape(
        "stripe-key",
        ("sk_", "rk_", "whsec_"),
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}|whsec_[A-Za-z0-9]{32,64}",
    ),
    Shape("npm-token", ("npm_",), rf"npm_[A-Za-z0-9]{{36}}(?![{_WORD}])"),
    Shape("pypi-token", ("pypi-Ag",), rf"pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[{_WORD}]{{50,1000}}"),
    Shape("huggingface-token", ("hf_",), rf"hf_[A-Za-z0-9]{{34}}(?![{_WORD}])"),
    Shape("xai-key", ("xai-",), rf"xai-[A-Za-z0-9]{{80}}(?![{_WORD}])"),
    Shape("groq-key", ("gsk_",), rf"gsk_[A-Za-z0-9]{{52}}(?![{_WORD}])"),
    Shape("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[0-9a-f]{64}"),
    Shape("docker-token", ("dckr_pat_",), rf"dckr_pat_[{_WORD}]{{27}}(?![{_WORD}])"),
)
"""Every token whose shape alone says what it is."""

AFTER = (b"ya29.", b"hooks.slack.com/")
"""What stands before the long word of the tokens that have no `starts`, directly or a little way off."""


@dataclass(frozen=True, slots=True)
class Context:
    """A secret that is known by what stands before it: a text that has it has one of `needles`, but for upper case."""

    name: str
    needles: tuple[bytes, ...]
    pattern: str
    """Its group `secret` is what is taken out."""


_PLACEHOLDER = r"(?![{<$%*\[]|x+\b)"
_IS = r"[\"'\\]{0,4}\s{0,4}[:=]\s{0,4}[\"'\\]{0,4}"
CONTEXTS: tuple[Context, ...] = (
    Context(
        "aws-secret",
        (b"secret_access_key", b"secretaccesskey"),
        rf"(?i:secret_?access_?key){_IS}(?P<secret>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
    ),
    Context(
        "aws-session",
        (b"session_token", b"sessiontoken"),
        rf"(?i:session_?token){_IS}(?P<secret>[A-Za-z0-9/+]{{100,4000}}={{0,2}})",
    ),
    Context(
        "authorization",
        (b"authorization",),
        r"(?i:authorization)[\"'\\]{0,4}\s{0,4}[:=,]\s{0,4}[\"'\\]{0,4}(?i:bearer|basic|token)\s{1,4}"
        rf"{_PLACEHOLDER}(?P<secret>[A-Za-z0-9._~+/=-]{{8,4000}})",
    ),
    Context(
        "npm-token",
        (b"_authtoken",),
        rf"_(?i:authToken){_IS}{_PLACEHOLDER}(?P<secret>[.={_WORD}]{{16,400}})",
    ),
)
"""Every secret that a name announces."""

URL_PASSWORD = Context(
    "url-password",
    (),
    rf"://[^\s/@:'\"<>\\]{{0,100}}:{_PLACEHOLDER}(?P<secret>[^\s/@'\"<>\\]{{1,300}})@(?=[A-Za-z0-9\[{{$%<])",
)
"""The one that a place announces: between the colon and the `@` of a URL."""

_RUN = 20
_USER = 1700
"""Most bytes of the user part of a URL: 401 characters."""
_CLASSES = bytes(120 if re.match(f"[{_WORD}]", chr(code)) else 46 for code in range(256))
_LONG = b"x" * _RUN
_STARTS = tuple(start.encode("ascii") for shape in SHAPES for start in shape.starts)
_ESCAPES = {b"\\": 1, b"%": 2}
_LEADS = frozenset({b".", b"/"})


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile when first needed: most processes never see a secret."""
    return re.compile(pattern)


def _tokens() -> str:
    shapes = "|".join(f"(?P<s{number}>{shape.pattern})" for number, shape in enumerate(SHAPES))
    return rf"(?:(?<![{_WORD}])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{{2}}))(?:{shapes})"


_TOKENS = _tokens()
_PEM_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY = r"[A-Za-z0-9+/=\s:,|>\"'\\().#→-]{32,20000}"
_PEM_LINES = (
    r"(?:(?:[\s\d|:>\"'+#→]|\\[nrt]){1,40}[A-Za-z0-9+/]{40,20000}={0,2}){1,400}"
    r"(?:(?:\s|\\[nr]){1,4}[A-Za-z0-9+/]{1,63}={1,2})?"
)
_LINE_END = r"\r?\n"


def mark(name: str) -> str:
    """Return what stands in place of a secret of that name."""
    return f"[redacted:{name}]"


_MARK = r"\[redacted:[a-z0-9-]+\]"


class Redactor:
    """Takes secrets out of texts and JSON values. Without one in it, 50 KB cost a fraction of a millisecond."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret.strip()) >= SHORTEST for form in forms_of(secret.strip())}
        self._forms = sorted(forms, key=len, reverse=True)
        self._needles = [(form.encode("utf-8", "surrogatepass"), form) for form in self._forms]

    def text(self, text: str) -> tuple[str, int]:
        """Return `text` without its secrets, and how many were taken out. Line breaks stay where they were."""
        data = text.encode("utf-8", "surrogatepass")
        text, count = self._given(text, data)
        if b"\x1b" in data and (bare := _compiled(_COLOUR).sub("", text)) != text:
            cleaned, more = _shapes(bare, bare.encode("utf-8", "surrogatepass"))
            # The colours stay unless a secret was hidden by them or stands between them.
            return (cleaned, count + more) if more else (text, count)
        cleaned, more = _shapes(text, data)
        return cleaned, count + more

    def value(self, value: Json) -> tuple[Json, int]:
        """Return the JSON value without the secrets in its strings and keys, and how many were taken out."""
        texts = _strings(value)
        if not texts or self.text("\n".join(texts))[1] == 0:
            return value, 0
        return self._clean(value)

    def _clean(self, value: Json) -> tuple[Json, int]:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            named = [(self.text(key), self._clean(each)) for key, each in value.items()]
            return {key[0]: each[0] for key, each in named}, sum(key[1] + each[1] for key, each in named)
        if not isinstance(value, Sequence):
            return value, 0
        lines = [each for each in value if isinstance(each, str) and "\n" not in each]
        if len(lines) == len(value):
            # The lines of one text: what spans several of them, such as a key, is found in the whole.
            whole, count = self.text("\n".join(lines))
            return whole.split("\n"), count
        cleaned = [self._clean(each) for each in value]
        return [each[0] for each in cleaned], sum(each[1] for each in cleaned)

    def _given(self, text: str, data: bytes) -> tuple[str, int]:
        if not self._needles:
            return text, 0
        flat = data.replace(b"\n", b"").replace(b"\r", b"")
        if b"\x1b" in flat:
            flat = _compiled(_COLOUR).sub("", flat.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")
        count = 0
        for needle, form in self._needles:
            if needle in flat:
                text, more = re.subn(_GAP.join(map(re.escape, form)), _marked("secret"), text)
                count += more
        return text, count


def forms_of(secret: str) -> set[str]:
    """Return the spellings in which a configured value is looked for, without their line breaks."""
    plain = secret.replace("\r", "").replace("\n", "")
    data = secret.encode("utf-8", "surrogatepass")
    escaped = "".join(f"%{byte:02X}" if chr(byte) not in _UNRESERVED else chr(byte) for byte in data)
    forms = {plain, escaped, escaped.replace("%20", "+"), re.sub("%..", lambda hit: hit.group().lower(), escaped)}
    forms |= {plain.replace("\\", "\\\\").replace('"', '\\"'), data.hex(), data.hex().upper()}
    for shift in range(3):
        # Of the groups of 4 characters that hold 3 bytes, those at the ends also hold what stands around the value.
        coded = b64encode(bytes(shift) + data).decode("ascii")
        whole = coded[(0, 2, 3)[shift] : len(coded) - (0, 3, 2)[(shift + len(data)) % 3]]
        forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= SHORTEST}


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _strings(value: Json) -> list[str]:
    """Return every key and string, in order, without recursion: this runs on every outcome."""
    found: list[str] = []
    stack: list[Json] = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, Mapping):
            for key in reversed(list(each)):
                stack += (each[key], key)
        elif isinstance(each, Sequence):
            lines = [part for part in each if isinstance(part, str)]
            if len(lines) == len(each):
                found += lines
            else:
                stack.extend(reversed(each))
    return found


def _shapes(text: str, data: bytes) -> tuple[str, int]:
    count = 0
    lower = data.lower()
    for context in CONTEXTS:
        if any(needle in lower for needle in context.needles):
            text, more = _compiled(context.pattern).subn(_in_context(context.name), text)
            count += more
    if _has_user(data):
        text, more = _compiled(URL_PASSWORD.pattern).subn(_in_context(URL_PASSWORD.name), text)
        count += more
    if b"PRIVATE KEY" in data:
        text, more = _pem(text)
        count += more
    if _has_token(data):
        text, more = _compiled(_TOKENS).subn(_token, text)
        count += more
    return text, count


def _has_token(data: bytes) -> bool:
    """Tell whether a long word of `data` starts as a token does. This alone sees most texts through."""
    classes = data.translate(_CLASSES)
    at = classes.find(_LONG)
    while at >= 0:
        before = data[at - 1 : at]
        # The letter of an escape such as \\n, or the digits of one such as %3D, stick to the word after them.
        stuck = _ESCAPES.get(before, 0)
        if data.startswith(_STARTS, at) or (stuck and data.startswith(_STARTS, at + stuck)):
            return True
        if before in _LEADS and any(lead in data[max(0, at - 80) : at] for lead in AFTER):
            return True
        end = classes.find(b".", at + _RUN)
        at = classes.find(_LONG, end) if end >= 0 else -1
    return False


def _has_user(data: bytes) -> bool:
    """Tell whether a URL in `data` has a user part with a colon."""
    if b"@" not in data:
        return False
    at = data.find(b"://")
    while at >= 0:
        part, sign, _ = data[at + 3 : at + _USER].partition(b"@")
        if sign and b":" in part and b"/" not in part and len(part.split(None, 1)) == 1:
            return True
        at = data.find(b"://", at + 3)
    return False


def _token(hit: re.Match[str]) -> str:
    return mark(SHAPES[int((hit.lastgroup or "s0")[1:])].name)


def _in_context(name: str) -> Callable[[re.Match[str]], str]:
    def replaced(hit: re.Match[str]) -> str:
        begin, end = hit.start("secret") - hit.start(), hit.end("secret") - hit.start()
        whole = hit.group()
        return whole[:begin] + mark(name) + whole[end:]

    return replaced


def _marked(name: str) -> Callable[[re.Match[str]], str]:
    def replaced(hit: re.Match[str]) -> str:
        return mark(name) + "".join(_compiled(_LINE_END).findall(hit.group()))

    return replaced


def _pem(text: str) -> tuple[str, int]:
    """Take private keys out. The breaks of their lines stay, so that what follows keeps its place."""
    parts: list[str] = []
    at = count = 0
    begins = list(_compiled(_PEM_BEGIN).finditer(text))
    for number, begin in enumerate(begins, 1):
        after = begins[number].start() if number < len(begins) else len(text)
        stop = _pem_stop(text, begin.end(), after)
        if stop > begin.end():
            parts += [
                text[at : begin.start()],
                mark("private-key"),
                *_compiled(_LINE_END).findall(text[begin.end() : stop]),
            ]
            at, count = stop, count + 1
    return "".join((*parts, text[at:])), count


def _pem_stop(text: str, begin: int, most: int) -> int:
    """Return where the key ends whose body begins at `begin`: at its last line, or after what still looks like one."""
    end = _compiled(_PEM_END).search(text, begin, most)
    if end is not None and _compiled(_PEM_BODY).fullmatch(text, begin, end.start()):
        return end.end()
    lines = _compiled(_PEM_LINES).match(text, begin, most)
    return lines.end() if lines is not None else begin


def foreign_mark(text: str, known: str) -> str | None:
    """Return the first mark of a secret in `text` that `known` does not hold; writing it back would lose the secret."""
    if "[redacted:" not in text:
        return None
    return next((each for each in _compiled(_MARK).findall(text) if each not in known), None)
