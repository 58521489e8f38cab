"""The redaction set: each documented shape is found, ordinary text is left alone, and the cost stays linear."""

import base64
import json
import random
import re
import string
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.terms.digest import Json
from toolcrib.terms.redaction import SHAPES, SHORTEST, Redactor, mark

ALNUM = string.ascii_letters + string.digits
ROOT = Path(__file__).resolve().parents[2]
PLAIN = Redactor()


def chars(alphabet: str, length: int, *, seed: int = 7) -> str:
    """Return random characters, always the same ones: a key that was never one."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


KEY = (
    "-----BEGIN {0}PRIVATE KEY-----\n" + "\n".join(chars(ALNUM + "+/", 64, seed=n) for n in range(12)) + "\nQ29vbA==\n"
)
TOKENS = {
    "aws-key": ["AKIA" + chars("ABCDEFGHIJ234567", 16), "ASIA" + chars("QRSTUVWXYZ234567", 16)],
    "github-token": [
        "ghp_" + chars(ALNUM, 36),
        "ghs_" + chars(ALNUM, 36),
        f"github_pat_{chars(ALNUM, 22)}_{chars(ALNUM, 59)}",
    ],
    "gitlab-token": ["glpat-" + chars(ALNUM + "_-", 20), "glrt-" + chars(ALNUM, 20)],
    "slack-token": ["xoxb-" + "1234567890-1234567890-" + chars(ALNUM, 24), "xapp-1-" + chars(ALNUM, 40)],
    "slack-webhook": ["https://hooks.slack.com/services/T0000AAAA/B0000BBBB/" + chars(ALNUM, 24)],
    "anthropic-key": ["sk-ant-api03-" + chars(ALNUM + "_-", 95)],
    "openai-key": [
        "sk-proj-" + chars(ALNUM + "_-", 120),
        f"sk-{chars(ALNUM, 20)}T3BlbkFJ{chars(ALNUM, 20)}",
        "sk-or-v1-" + chars("0123456789abcdef", 64),
    ],
    "google-key": ["AIza" + chars(ALNUM + "_-", 35), "GOCSPX-" + chars(ALNUM + "_-", 28)],
    "google-token": ["ya29." + chars(ALNUM + "_-", 120)],
    "stripe-key": ["sk_live_" + chars(ALNUM, 24), "rk_test_" + chars(ALNUM, 99), "whsec_" + chars(ALNUM, 32)],
    "npm-token": ["npm_" + chars(ALNUM, 36)],
    "pypi-token": ["pypi-AgEIcHlwaS5vcmc" + chars(ALNUM + "_-", 150)],
    "huggingface-token": ["hf_" + chars(ALNUM, 34)],
    "xai-key": ["xai-" + chars(ALNUM, 80)],
    "groq-key": ["gsk_" + chars(ALNUM, 52)],
    "digitalocean-token": ["dop_v1_" + chars("0123456789abcdef", 64)],
    "docker-token": ["dckr_pat_" + chars(ALNUM + "_-", 27)],
}
EACH = [(name, token) for name, tokens in TOKENS.items() for token in tokens]
SURROUNDINGS = (
    "{}",
    "key={}",
    'KEY = "{}"\n',
    '{{"key": "{}"}}',
    "first line\n{} and more",
    "a log line\\n{}\\nnext",
    "?token%3D{}&next=1",
    "(see {})",
    "é — {} — ü",
    "\x1b[31m{}\x1b[0m",
)
CONTEXTS = {
    "aws-secret": (
        chars(ALNUM + "/+", 40),
        [
            "AWS_SECRET_ACCESS_KEY={}",
            "aws_secret_access_key = {}\n",
            '"SecretAccessKey": "{}",',
            "secretAccessKey: '{}'",
        ],
    ),
    "aws-session": (chars(ALNUM + "/+", 356) + "==", ["AWS_SESSION_TOKEN={}", '"SessionToken": "{}"']),
    "authorization": (
        base64.b64encode(b"somebody:something long").decode(),
        [
            "Authorization: Bearer {}",
            '"authorization": "Basic {}"',
            "curl -H 'Authorization: token {}' x",
            '("Authorization", "Bearer {}")',
        ],
    ),
    "npm-token": ("0a1b2c3d-1111-2222-3333-444455556666", ["//registry.example/:_authToken={}"]),
    "url-password": (
        "pa55-w0rd!",
        ["postgres://app:{}@db.example:5432/x", "git clone https://me:{}@example.org/r.git", "redis://:{}@cache"],
    ),
}


@pytest.mark.attack("A175")
@pytest.mark.parametrize(("name", "token"), EACH)
@pytest.mark.parametrize("around", SURROUNDINGS)
def test_a_token_of_a_known_shape_is_taken_out_wherever_it_stands(name: str, token: str, around: str) -> None:
    text = around.format(token)
    assert token in text
    cleaned, count = PLAIN.text(text)
    assert token not in cleaned
    assert token.rpartition("/")[2][-12:] not in cleaned
    assert mark(name) in cleaned
    assert count == 1


def test_every_shape_of_the_table_has_an_example_here() -> None:
    assert {shape.name for shape in SHAPES} == set(TOKENS)


@pytest.mark.parametrize(
    ("name", "secret", "text"), [(name, secret, text) for name, (secret, texts) in CONTEXTS.items() for text in texts]
)
def test_a_secret_that_its_surroundings_announce_is_taken_out_and_they_stay(name: str, secret: str, text: str) -> None:
    assert PLAIN.text(text.format(secret)) == (text.format(mark(name)), 1)


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_is_taken_out_and_the_lines_after_it_keep_their_numbers(kind: str) -> None:
    text = "before\n" + KEY.format(kind) + f"-----END {kind}PRIVATE KEY-----\nafter\n"
    cleaned, count = PLAIN.text(text)
    assert count == 1
    assert cleaned.split("\n").index("after") == text.split("\n").index("after")
    assert [line for line in cleaned.split("\n") if line] == ["before", mark("private-key"), "after"]


SHOWN: dict[str, Callable[[str], str]] = {
    "escaped": lambda key: json.dumps({"private_key": key}),
    "numbered": lambda key: "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(key.split("\n"), 1)),
    "indented": lambda key: "\n".join(f"    | {line}" for line in key.split("\n")),
    "crlf": lambda key: key.replace("\n", "\r\n"),
    "without its end": lambda key: key.partition("-----END")[0],
}


@pytest.mark.parametrize("form", sorted(SHOWN))
def test_a_private_key_is_found_in_the_forms_it_is_shown_in(form: str) -> None:
    text = SHOWN[form](KEY.format("") + "-----END PRIVATE KEY-----\n")
    cleaned, count = PLAIN.text(text)
    assert count == 1
    assert not any(chars(ALNUM + "+/", 64, seed=n) in cleaned for n in range(12))


@pytest.mark.parametrize(
    "text",
    [
        'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("a key")',
        're.compile("-----BEGIN PRIVATE KEY-----(.*?)-----END PRIVATE KEY-----")',
        "https://user:{password}@example.org", "https://user:$PASS@example.org", "https://user:<password>@example.org",
        "Authorization: Bearer <token>", "Authorization: Bearer {token}", "Authorization: Bearer $TOKEN",
        "ssh://git@example.org:22/x", "https://example.org:8080/@scope/name", "me@example.org: see https://a.b/c:d",
        "sk-learn-compatible-estimator-checks-with-a-long-name", "task-12345678901234567890123456789012",
        "global_interpreter_lock_is_not_a_token", "xoxo", "AKIA_NOT_A_KEY_AT_ALL_REALLY",
        "pypi-publish-workflow-name-here",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "npm_config_registry_is_a_variable_name_here_ok",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert PLAIN.text(text) == (text, 0)


def test_the_sources_of_this_package_hold_nothing_that_is_taken_out() -> None:
    hit = [str(path) for path in sorted((ROOT / "src").rglob("*.py")) if PLAIN.text(path.read_text("utf-8"))[1]]
    assert hit == []


def test_the_standard_library_is_all_but_untouched() -> None:
    hits = lines = 0
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in (
        sorted(folder.glob("*.py"))
        + sorted((folder / "asyncio").glob("*.py"))
        + sorted((folder / "email").glob("*.py"))
    ):
        text = path.read_text("utf-8", "surrogateescape")
        lines += text.count("\n")
        hits += PLAIN.text(text)[1]
    assert lines > 50_000
    assert hits <= 2


CANARY = 'cAnary/Value+42 with "quotes" & ümläut'


def spellings(secret: str) -> dict[str, str]:
    """Return the forms that the module promises to find."""
    data = secret.encode()
    return {
        "plain": secret,
        "url": quote(secret, safe=""),
        "url in lower case": re.sub("%..", lambda hit: hit.group().lower(), quote(secret, safe="")),
        "form": quote(secret, safe="").replace("%20", "+"),
        "json": json.dumps(secret, ensure_ascii=False)[1:-1],
        "hex": data.hex(),
        **{f"base64 at {shift}": base64.b64encode(b"." * shift + data + b"end").decode() for shift in range(3)},
        **{f"url-safe base64 at {shift}": base64.urlsafe_b64encode(b"." * shift + data).decode() for shift in range(3)},
    }


@pytest.mark.attack("A175")
@pytest.mark.parametrize("form", sorted(spellings(CANARY)))
@pytest.mark.parametrize("split", ["whole", "lines", "colours", "both"])
def test_a_configured_value_is_found_in_each_promised_form(form: str, split: str) -> None:
    spelled = spellings(CANARY)[form]
    middle = len(spelled) // 2
    between = {"whole": "", "lines": "\n", "colours": "\x1b[1;31m", "both": "\r\n\x1b[0m\n"}[split]
    text = f"out: {spelled[:middle]}{between}{spelled[middle:]} :end"
    cleaned, count = Redactor([CANARY]).text(text)
    assert count == 1
    assert spelled[4:middle] not in cleaned
    assert spelled[middle:-4] not in cleaned
    assert cleaned.startswith("out: ")
    assert cleaned.endswith(" :end")
    assert cleaned.count("\n") == text.count("\n")
    # Without the value being configured, nothing of the kind is claimed.
    assert PLAIN.text(text)[1] == 0


@pytest.mark.attack("A175")
def test_a_configured_value_is_found_through_a_colour_code_at_every_character() -> None:
    secret = "correct-horse-battery"
    text = "\x1b[32m".join(secret)
    assert secret not in text
    assert Redactor([secret]).text(f"<{text}>") == (f"<{mark('secret')}>", 1)


@pytest.mark.attack("A175")
@pytest.mark.parametrize("text", ["cAna\n    ry-Value", "cAna\n12\try-Value", "eulaV-yranAc", "cAna ry-Value"])
def test_no_wider_claim_is_made_than_the_documented_one(text: str) -> None:
    assert Redactor(["cAnary-Value"]).text(text) == (text, 0)
    assert Redactor(["cAnary-Value"]).text("cAna\nry-Value")[1] == 1


def test_a_token_that_colour_codes_interrupt_is_found_and_the_colours_go() -> None:
    token = "ghp_" + chars(ALNUM, 36)
    text = f"\x1b[1mtoken\x1b[0m {token[:9]}\x1b[33m{token[9:]}"
    assert PLAIN.text(text) == (f"token {mark('github-token')}", 1)
    assert PLAIN.text("\x1b[1mno secret\x1b[0m") == ("\x1b[1mno secret\x1b[0m", 0)


def test_a_value_too_short_to_tell_from_other_text_is_not_looked_for() -> None:
    assert Redactor(["a" * (SHORTEST - 1)]).text("a" * 30) == ("a" * 30, 0)
    assert Redactor(["a" * SHORTEST]).text("a" * SHORTEST)[1] == 1


def test_the_longer_of_two_values_is_taken_out_whole() -> None:
    cleaned, count = Redactor(["password", "password-and-more"]).text("password-and-more")
    assert (cleaned, count) == (mark("secret"), 1)


def test_a_json_value_is_cleaned_in_its_strings_and_keys_and_keeps_its_shape() -> None:
    token = "npm_" + chars(ALNUM, 36)
    value = {"a": [1, None, True, 2.5, f"x {token}"], token: {"deep": [[token]]}, "plain": "text"}
    cleaned, count = PLAIN.value(value)
    assert count == 3
    assert cleaned == {
        "a": [1, None, True, 2.5, f"x {mark('npm-token')}"],
        mark("npm-token"): {"deep": [[mark("npm-token")]]},
        "plain": "text",
    }


def test_a_key_that_is_spread_over_a_list_of_lines_is_taken_out_line_by_line() -> None:
    lines = ["before", *KEY.format("").rstrip("\n").split("\n"), "-----END PRIVATE KEY-----", "after"]
    cleaned, count = PLAIN.value({"lines": lines})
    assert count == 1
    assert isinstance(cleaned, dict)
    assert cleaned["lines"] == ["before", mark("private-key"), *[""] * (len(lines) - 3), "after"]


def test_a_value_without_secrets_comes_back_as_it_is() -> None:
    value = {"lines": ["x = 1"] * 100, "n": 3}
    cleaned, count = PLAIN.value(value)
    assert cleaned is value
    assert count == 0


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=10,
    )
)
def test_any_json_value_without_secrets_is_unchanged(value: Json) -> None:
    assert PLAIN.value(value) == (value, 0)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40), st.text(max_size=40))
def test_a_configured_value_never_survives_in_plain(before: str, after: str) -> None:
    secret = "Tr0ub4dor&3-xyzzy"
    assert secret not in Redactor([secret]).text(before + secret + after)[0]


def test_a_lone_surrogate_is_no_obstacle() -> None:
    token = "npm_" + chars(ALNUM, 36)
    assert PLAIN.text(f"\ud800 {token}") == (f"\ud800 {mark('npm-token')}", 1)


def seconds(text: str, redactor: Redactor) -> float:
    """Return the least processor time of three runs."""
    times: list[float] = []
    for _ in range(3):
        began = time.thread_time()
        redactor.text(text)
        times.append(time.thread_time() - began)
    return min(times)


HOSTILE = {
    "at signs": "a@" * 500,
    "schemes": "://" * 300,
    "user parts": "://a:b" * 200,
    "begins": "-----BEGIN PRIVATE KEY-----" * 40,
    "begin and letters": "-----BEGIN PRIVATE KEY-----\n" + "A" * 900,
    "authorization": "authorization: bearer " * 45,
    "starts": "sk-ant- glpat- xoxb-" * 50,
    "one long word": "a" * 1000,
    "colours": "\x1b[31m" * 200,
    "escapes": "\\n%3D" * 200,
    "gaps": "\r\n" * 500,
    "first letters": "Tr0ub4dor&" * 100,
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_ten_times_the_text_costs_about_ten_times_as_much(kind: str) -> None:
    redactor = Redactor(["Tr0ub4dor&3-xyzzy"])
    short, long = HOSTILE[kind] * 20, HOSTILE[kind] * 200
    redactor.text(short)
    assert seconds(long, redactor) < 40 * max(seconds(short, redactor), 0.0002)


def test_fifty_kilobytes_of_code_cost_less_than_reading_them_into_words() -> None:
    text = "".join(path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py")))[:50_000]
    PLAIN.text(text)
    began = time.thread_time()
    for _ in range(20):
        text.split()
    words = time.thread_time() - began
    began = time.thread_time()
    for _ in range(20):
        PLAIN.text(text)
    assert time.thread_time() - began < 3 * words
