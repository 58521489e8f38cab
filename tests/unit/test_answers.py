"""Each provider's tool-result message says what the outcome says, in its own form."""

import base64
from typing import get_args

import pytest

from toolcrib.terms.answers import Media
from toolcrib.terms.errors import RenderError
from toolcrib.terms.outcome import Fields, Ok, Outcome, Refused
from toolcrib.terms.providers import Provider

OK = Ok(tool="read_file", call_id="01abc", payload={"lines": ["x"]}, text="1\tx")
REFUSED = Refused(
    tool="read_file", call_id="01abc", name="file.missing", message="gone", text="refused file.missing: gone"
)
PNG = Media("image/png", b"\x89PNG", "toolcrib:artifact/a")
PDF = Media("application/pdf", b"%PDF", "toolcrib:artifact/b")
DATA = base64.b64encode(b"\x89PNG").decode()
DOCUMENT = base64.b64encode(b"%PDF").decode()


@pytest.mark.promise("P-provider-answers")
@pytest.mark.parametrize(
    ("provider", "outcome", "message"),
    [
        ("openai", OK, {"role": "tool", "tool_call_id": "call_1", "content": "1\tx"}),
        ("openai-responses", OK, {"type": "function_call_output", "call_id": "call_1", "output": "1\tx"}),
        (
            "anthropic",
            OK,
            {
                "type": "tool_result",
                "tool_use_id": "call_1",
                "is_error": False,
                "content": [{"type": "text", "text": "1\tx"}],
            },
        ),
        (
            "anthropic",
            REFUSED,
            {
                "type": "tool_result",
                "tool_use_id": "call_1",
                "is_error": True,
                "content": [{"type": "text", "text": "refused file.missing: gone"}],
            },
        ),
        (
            "gemini",
            OK,
            {"functionResponse": {"id": "call_1", "name": "read_file", "response": {"output": "1\tx"}}},
        ),
        (
            "gemini",
            REFUSED,
            {
                "functionResponse": {
                    "id": "call_1",
                    "name": "read_file",
                    "response": {"error": "refused file.missing: gone"},
                }
            },
        ),
        (
            "mcp",
            REFUSED,
            {
                "content": [{"type": "text", "text": "refused file.missing: gone"}],
                "structuredContent": REFUSED.to_json(),
                "isError": True,
            },
        ),
    ],
)
def test_an_outcome_is_told_in_the_form_of_the_provider(provider: Provider, outcome: Outcome, message: Fields) -> None:
    assert outcome.render(provider, call_id="call_1") == message


def test_the_id_of_the_call_is_the_outcomes_own_unless_another_is_given() -> None:
    assert OK.render("openai")["tool_call_id"] == OK.render("anthropic")["tool_use_id"] == "01abc"
    assert "id" not in OK.render("gemini")["functionResponse"]


@pytest.mark.promise("P-provider-answers")
def test_media_go_to_those_who_take_them_in_an_answer() -> None:
    media = (PNG, PDF, Media("audio/wav", b"RIFF", "toolcrib:artifact/c"))
    said = {"type": "input_text", "text": "1\tx"}
    assert OK.render("openai-responses", media=media)["output"] == [
        said,
        {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}", "detail": "auto"},
        {"type": "input_file", "filename": "document.pdf", "file_data": f"data:application/pdf;base64,{DOCUMENT}"},
    ]
    assert OK.render("anthropic", media=media)["content"][1:] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": DOCUMENT}},
    ]
    assert [each["type"] for each in OK.render("mcp", media=media)["content"]] == [
        "text",
        "image",
        "resource",
        "resource",
    ]
    assert OK.render("openai", media=media) == OK.render("openai")
    assert OK.render("gemini", media=media) == OK.render("gemini")


def test_an_answer_without_words_has_no_empty_block_of_text() -> None:
    silent = Ok(tool="t", call_id="c", payload={}, text=" \n")
    assert "content" not in silent.render("anthropic")
    assert silent.render("openai")["content"] == " \n"


@pytest.mark.parametrize("provider", get_args(Provider))
def test_what_is_no_unicode_is_shown_and_breaks_no_request(provider: Provider) -> None:
    odd = Ok(tool="t", call_id="c", payload={}, text="caf\udce9 \ud800")
    shown = str(odd.render(provider))
    assert "caf\\\\xe9 \\\\ud800" in shown


@pytest.mark.promise("P-provider-rules")
@pytest.mark.parametrize(
    ("provider", "call_id"),
    [("openai", "x" * 65), ("openai", ""), ("openai-responses", "x" * 65), ("anthropic", "a b"), ("anthropic", "")],
)
def test_a_call_id_that_the_provider_does_not_know_is_refused(provider: Provider, call_id: str) -> None:
    with pytest.raises(RenderError) as caught:
        OK.render(provider, call_id=call_id)
    assert (caught.value.rule, caught.value.provider, caught.value.tool) == ("call-id", provider, "read_file")
