"""A view as the `tools` field of a provider's request takes it, or a word on which rule of the provider it breaks.

Takes nothing but the view. The rules are data in `terms.providers`; a tool that breaks one stops the whole rendering.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, assert_never

from toolcrib.catalog.fit import Broken, fit, plain
from toolcrib.catalog.naming import normal
from toolcrib.catalog.strict import twin, weigh
from toolcrib.catalog.views import Shown, View
from toolcrib.terms.answers import check_provider
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.errors import RenderError
from toolcrib.terms.outcome import Fields
from toolcrib.terms.providers import RULES, Provider, Rule, Strict

Strictness = bool | Collection[str]
"""Whether the provider holds the model to the schemas: of all tools, or of the tools named."""


def render(view: View, provider: Provider = "mcp", *, strict: Strictness = False) -> list[Fields]:
    """Return the JSON tools of `view`, in its order. Symbols are left out: a program's tool lists them.

    Raises:
        RenderError: a tool breaks a rule of the provider; it names the tool and the rule.
        ConfigError: there is no such provider.
    """
    check_provider(provider)
    strict = (strict,) if isinstance(strict, str) else strict
    items = [item for item in view.items if item.surface == "json"]
    tight = {item.name for item in items if strict is True or (not isinstance(strict, bool) and item.name in strict)}
    _check_strict(provider, strict, items)
    _check_names(provider, items)
    rendered = [_guarded(item, provider, strict=item.name in tight) for item in items]
    _check_budgets(provider, [(item, each) for item, each in zip(items, rendered, strict=True) if item.name in tight])
    _check_size(provider, rendered)
    if provider == "gemini":
        return [{"functionDeclarations": rendered}] if rendered else []
    return rendered


def annotations(*descriptors: Descriptor) -> Fields:
    """Return the hints of the Model Context Protocol for tools behind one name: the worst of them all.

    Every hint is given, since a missing one means its worst value to a client (specification, `ToolAnnotations`). A
    descriptor's own `annotations` are another server's claims and are not passed on; the effect class is what was
    believed of them.
    """
    return {
        "readOnlyHint": all(each.effect == "read" for each in descriptors),
        "destructiveHint": any(each.effect in {"reversible", "irreversible"} for each in descriptors),
        "idempotentHint": all(each.effect in {"read", "idempotent-write"} for each in descriptors),
        "openWorldHint": any(each.kind == "effect" or each.origin.kind in {"mcp", "pack"} for each in descriptors),
    }


# One tool -----------------------------------------------------------------------------------------------------------


def _guarded(item: Shown, provider: Provider, *, strict: bool) -> Fields:
    try:
        plain([item.name, item.title, item.description])
        if re.fullmatch(RULES[provider].name, item.name) is None:
            raise Broken("name", f"the name {item.name[:80]!r} does not match {RULES[provider].name}")
        return _tool(item, provider, strict=strict)
    except Broken as broken:
        raise _error(provider, item.name, broken.rule, broken.message) from None


def _tool(item: Shown, provider: Provider, *, strict: bool) -> Fields:
    schema = _schema(item.schema, provider, strict=strict)
    told = {"name": item.name, "description": item.description}
    match provider:
        case "openai":
            return {
                "type": "function",
                "function": {**told, "parameters": schema, **({"strict": True} if strict else {})},
            }
        case "openai-responses":
            # Said either way: without the field this endpoint takes the schema for a strict one.
            return {"type": "function", **told, "parameters": schema, "strict": strict}
        case "anthropic":
            return {**told, "input_schema": schema, **({"strict": True} if strict else {})}
        case "gemini":
            return {**told, "parametersJsonSchema": schema}
        case "mcp":
            return _mcp(item, schema)
        case _:
            assert_never(provider)


def _schema(declared: Mapping[str, Any], provider: Provider, *, strict: bool) -> Fields:
    rules = RULES[provider]
    if not strict or rules.strict is None:
        return fit(declared, rules, keywords=rules.keywords)
    whole = fit(declared, rules, keywords=None)
    return twin(fit(declared, rules, keywords=rules.strict.keywords), rules.strict, whole=whole)


def _mcp(item: Shown, schema: Fields) -> Fields:
    descriptors = [entry.descriptor for entry in item.entries]
    returns = descriptors[0].returns if len(descriptors) == 1 else None
    shown: Fields = {
        "name": item.name,
        "title": item.title,
        "description": item.description,
        "inputSchema": schema,
        "annotations": {"title": item.title, **annotations(*descriptors)},
    }
    if returns is not None:
        shown["outputSchema"] = fit(returns, RULES["mcp"], keywords=None)
    return shown


# All tools together -------------------------------------------------------------------------------------------------


def _check_strict(provider: Provider, strict: Strictness, items: Collection[Shown]) -> None:
    if strict is False:
        return
    if RULES[provider].strict is None:
        raise _error(provider, "", "strict-mode", "this provider's tools have no strict mode")
    names = {item.name for item in items}
    if not isinstance(strict, bool) and (unknown := sorted(set(strict) - names)):
        raise _error(provider, unknown[0], "strict-mode", "no tool of this name is visible, so none can be strict")


def _check_names(provider: Provider, items: Collection[Shown]) -> None:
    most = RULES[provider].tools
    if most is not None and len(items) > most:
        raise _error(provider, "", "tool-count", f"{len(items)} tools are visible, and a request takes {most}")
    seen: dict[str, str] = {}
    for item in items:
        if (other := seen.get(normal(item.name))) is not None:
            raise _error(provider, item.name, "name-unique", f"{other[:80]!r} and this would be one name")
        seen[normal(item.name)] = item.name


def _check_budgets(provider: Provider, tight: Collection[tuple[Shown, Fields]]) -> None:
    mode = RULES[provider].strict
    if mode is None or not tight:
        return
    optionals = unions = 0
    for count, (item, rendered) in enumerate(tight, 1):
        more = weigh(_parameters(rendered))
        optionals, unions = optionals + more[0], unions + more[1]
        for rule, found, most in _spent(mode, count, optionals, unions):
            if most is not None and found > most:
                what = f"with this tool the strict ones have {found}, and a request takes {most}"
                raise _error(provider, item.name, rule, what, hint="name fewer tools: strict={'edit_file'}")


def _spent(mode: Strict, tools: int, optionals: int, unions: int) -> tuple[tuple[Rule, int, int | None], ...]:
    return (
        ("strict-tools", tools, mode.tools),
        ("strict-optionals", optionals, mode.optionals),
        ("strict-unions", unions, mode.unions),
    )


def _parameters(rendered: Fields) -> Fields:
    function: Fields = rendered.get("function", rendered)
    return function.get("parameters") or function["input_schema"]


def _check_size(provider: Provider, rendered: list[Fields]) -> None:
    most = RULES[provider].request_bytes
    if most is not None and (size := len(json.dumps(rendered, ensure_ascii=False).encode())) > most:
        raise _error(provider, "", "request-size", f"the tools take {size:,} bytes, and a request {most:,}")


def _error(provider: Provider, tool: str, rule: Rule, what: str, *, hint: str = "") -> RenderError:
    where = f"{provider}: {tool[:80]!r}" if tool else provider
    return RenderError(
        f"{where} breaks the rule {rule}: {what}",
        provider=provider,
        tool=tool,
        rule=rule,
        hint=hint or (f"leave it out: without=({tool[:80]!r},)" if tool else ""),
    )
