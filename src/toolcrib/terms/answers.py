"""Outcomes as the tool-result messages of providers. Pure: media come in as bytes, nothing is read."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from toolcrib.terms.errors import ConfigError, RenderError
from toolcrib.terms.names import nearest
from toolcrib.terms.providers import RULES, Provider
from toolcrib.terms.text import unicode_only


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or a document that goes with an answer; `uri` names it."""

    media_type: str
    data: bytes
    uri: str

    @property
    def base64(self) -> str:
        """The data as text."""
        return base64.b64encode(self.data).decode("ascii")

    @property
    def url(self) -> str:
        """The data as a URL of its own."""
        return f"data:{self.media_type};base64,{self.base64}"

    @property
    def is_image(self) -> bool:
        """Whether it is a picture."""
        return self.media_type.startswith("image/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What an outcome says: the text for a model, the whole as JSON, and whether it is a refusal."""

    tool: str
    call_id: str
    text: str
    whole: dict[str, Any]
    refused: bool


def message(told: Told, provider: Provider, *, call_id: str | None, media: Sequence[Media] = ()) -> dict[str, Any]:
    """Return the tool-result message; `call_id` is the id that the provider gave the call, `told`'s own by default.

    Media that the provider takes in an answer go along, others are left out.

    Raises:
        RenderError: the provider takes no such call id (rule `call-id`).
        ConfigError: there is no such provider.
    """
    check_provider(provider)
    answered = told.call_id if call_id is None else call_id
    check_id(answered, provider, tool=told.tool)
    text = unicode_only(told.text)
    taken = RULES[provider].media
    sent = [each for each in media if taken is None or each.media_type in taken]
    match provider:
        case "openai":
            return {"role": "tool", "tool_call_id": answered, "content": text}
        case "openai-responses":
            output = [{"type": "input_text", "text": text}, *map(_responses, sent)] if sent else text
            return {"type": "function_call_output", "call_id": answered, "output": output}
        case "anthropic":
            # The API refuses a block of text with nothing but blanks in it; content may be left out.
            blocks = [*([{"type": "text", "text": text}] if text.strip() else []), *map(_anthropic, sent)]
            body = {"content": blocks} if blocks else {}
            return {"type": "tool_result", "tool_use_id": answered, "is_error": told.refused, **body}
        case "gemini":
            named = {} if call_id is None else {"id": call_id}
            response = {"error" if told.refused else "output": text}
            return {"functionResponse": {**named, "name": told.tool, "response": response}}
        case "mcp":
            content = [{"type": "text", "text": text}, *map(_mcp, sent)]
            return {"content": content, "structuredContent": told.whole, "isError": told.refused}
        case _:
            assert_never(provider)


def check_provider(provider: str) -> None:
    """Refuse a name that is no provider's.

    Raises:
        ConfigError: it is none.
    """
    if provider not in RULES:
        near = nearest(provider, RULES, most=1)
        raise ConfigError(
            f"no provider {provider[:80]!r}" + (f"; nearest: {near[0]!r}" if near else ""),
            hint=f"Known providers: {', '.join(RULES)}.",
        )


def check_id(call_id: str, provider: Provider, *, tool: str) -> None:
    """Refuse a call id that the provider does not take.

    Raises:
        RenderError: rule `call-id`.
    """
    pattern = RULES[provider].call_id
    if pattern is not None and re.fullmatch(pattern, call_id) is None:
        raise RenderError(
            f"{provider}: {tool[:200]}: call id {call_id[:80]!r} does not match {pattern}",
            provider=provider,
            tool=tool[:200],
            rule="call-id",
            hint="pass the id that the provider gave the call as call_id",
        )


def _responses(media: Media) -> dict[str, Any]:
    if media.is_image:
        return {"type": "input_image", "image_url": media.url, "detail": "auto"}
    return {"type": "input_file", "filename": "document.pdf", "file_data": media.url}


def _anthropic(media: Media) -> dict[str, Any]:
    source = {"type": "base64", "media_type": media.media_type, "data": media.base64}
    return {"type": "image" if media.is_image else "document", "source": source}


def _mcp(media: Media) -> dict[str, Any]:
    if media.is_image:
        return {"type": "image", "data": media.base64, "mimeType": media.media_type}
    return {"type": "resource", "resource": {"uri": media.uri, "mimeType": media.media_type, "blob": media.base64}}
