"""The steps from nothing to the present schema, in order. Forward only, each atomic, none ever changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.store.database import RESTORE, Link
from toolcrib.store.schema import APPLICATION_ID, CONSENT, CONTENT, TAPE
from toolcrib.terms.errors import StoreError


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. Its place in the list is the `user_version` that it leads to."""

    name: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (
    Migration("tape", (f"PRAGMA application_id = {APPLICATION_ID}", *TAPE)),
    Migration("consent", CONSENT),
    Migration("content", CONTENT),
)
"""Every step there is."""


def migrate(link: Link, steps: Sequence[Migration] = MIGRATIONS) -> int:
    """Bring the database to the last step and return how many steps that took.

    Several processes may do this at once: each step looks again at the version inside its own transaction.
    """
    taken = 0
    while (version := link.number("PRAGMA user_version")) < len(steps):
        link.run("BEGIN IMMEDIATE")
        try:
            if link.number("PRAGMA user_version") == version:
                for statement in steps[version].statements:
                    link.run(statement)
                link.run(f"PRAGMA user_version = {version + 1}")
                taken += 1
            link.run("COMMIT")
        finally:
            link.rollback()
    return taken


def inspect(link: Link, steps: Sequence[Migration] = MIGRATIONS) -> int:
    """Return the version of the database, having read nothing but its header and schema.

    A schema that differs in one character from what this version would have made is foreign: a trigger or a view put
    there by someone else would run as part of our own statements.

    Raises:
        StoreError: it is not a Toolcrib store, is newer than this version, or its schema was tampered with.
    """
    application, version = link.number("PRAGMA application_id"), link.number("PRAGMA user_version")
    found = shape(link)
    if application == 0 and version == 0 and not found:
        raise StoreError("the store's database is empty, and a store never is", hint=RESTORE)
    if application != APPLICATION_ID:
        raise StoreError(
            f"the database in the store directory belongs to another program (application id {application:#x})",
            hint="Point the state directory elsewhere; nothing was changed.",
        )
    if version > len(steps):
        raise StoreError(
            f"the store has version {version}, newer than the {len(steps)} that this version of Toolcrib knows",
            hint="Use the newer Toolcrib that wrote it; nothing was changed.",
        )
    if found != _expected(steps[:version]):
        raise StoreError(
            f"the schema of the store is not that of version {version}: something else changed it",
            hint=RESTORE,
        )
    return version


def shape(link: Link) -> list[tuple[object, ...]]:
    """Return the schema as SQLite keeps it, in a fixed order."""
    return sorted(link.all("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"))


def blank() -> bytes:
    """Return the file of an empty store of the newest version."""
    memory = Link.memory()
    try:
        migrate(memory)
        return memory.image()
    finally:
        memory.close()


def _expected(steps: Sequence[Migration]) -> list[tuple[object, ...]]:
    memory = Link.memory()
    try:
        migrate(memory, steps)
        return shape(memory)
    finally:
        memory.close()
