"""The dialects: how each system and model family spells the tools. All land on the same tool, effect and ruling."""

from collections.abc import Mapping

from toolcrib.catalog.families import CLAUDE, CODEX, GEMINI, OPENHANDS
from toolcrib.catalog.shapes import Dialect
from toolcrib.catalog.systems import KRAM, STAAGE, STANDARD, TOOLCRIB
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.names import nearest

DEFAULT = "toolcrib"
"""The dialect of a caller that names none."""

DIALECTS: Mapping[str, Dialect] = {
    each.name: each for each in (TOOLCRIB, STAAGE, KRAM, STANDARD, CLAUDE, CODEX, GEMINI, OPENHANDS)
}
"""Every dialect by name, the default first."""


def dialect(name: str) -> Dialect:
    """Return the dialect called `name`.

    Raises:
        ConfigError: there is none.
    """
    try:
        return DIALECTS[name]
    except KeyError:
        near = nearest(name, DIALECTS, most=1)
        raise ConfigError(
            f"no dialect {name[:80]!r}" + (f"; nearest: {near[0]!r}" if near else ""),
            hint=f"Known dialects: {', '.join(DIALECTS)}.",
        ) from None
