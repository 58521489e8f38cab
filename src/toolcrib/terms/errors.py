"""Errors of the product itself, for people who start it. A model never sees one: its answers are outcomes.

ToolcribError
  ConfigError     a configuration that does not load (exit 78)
    TrustError    a project's configuration asks for what only a trusted project may have
  BootError       a state that cannot be started from (exit 78)
    StoreError    a store that is damaged, foreign or newer
    WorkspaceError  a workspace that is missing, not a directory, or too wide
  RenderError     a tool or an answer that a provider's rules do not let through
"""

from toolcrib.terms.providers import Provider, Rule


class ToolcribError(Exception):
    """Base of the errors below. `hint` says what to do next, in one line; a traceback shows it too."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.add_note(f"next: {hint}")
        self.message = message
        self.hint = hint


class ConfigError(ToolcribError):
    """A configuration that does not load: says the file, line and column where they are known."""


class TrustError(ConfigError):
    """A project's own configuration asks for more than an untrusted project may have."""


class BootError(ToolcribError):
    """The product cannot start from the state it found."""


class StoreError(BootError):
    """The store is damaged, foreign, newer than this version, or cannot be opened."""


class WorkspaceError(BootError):
    """The workspace does not exist, is not a directory, or is too wide to be one."""


class RenderError(ToolcribError):
    """A tool or an answer that a provider's rules do not let through: names `provider`, `tool` and `rule`.

    Nothing is rendered then: no provider is handed a schema that it would take for another one.
    """

    def __init__(self, message: str, *, provider: Provider, tool: str, rule: Rule, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.provider: Provider = provider
        self.tool = tool
        self.rule: Rule = rule
