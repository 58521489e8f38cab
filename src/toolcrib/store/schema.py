"""The tables, as SQL. What is here never changes once released: a later form is a further migration."""

APPLICATION_ID = 0x546F6F6C
"""`Tool` in ASCII: says whose database file this is (https://sqlite.org/pragma.html#pragma_application_id)."""

TAPE = (
    """CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  stage TEXT NOT NULL,
  call_id TEXT NOT NULL,
  data TEXT NOT NULL,
  previous BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT""",
    "CREATE INDEX entries_by_call ON entries (call_id, seq) WHERE call_id <> ''",
    """CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'the tape is append-only'); END""",
    """CREATE TRIGGER entries_are_not_removed BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'the tape is append-only'); END""",
    """CREATE TABLE bodies (
  digest BLOB PRIMARY KEY,
  last INTEGER NOT NULL,
  body BLOB
) STRICT""",
    """CREATE TRIGGER bodies_are_not_changed BEFORE UPDATE OF body ON bodies
WHEN NEW.body IS NOT NULL AND OLD.body IS NOT NULL AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a body is only ever pruned'); END""",
    """CREATE TRIGGER bodies_are_not_removed BEFORE DELETE ON bodies
BEGIN SELECT RAISE(ABORT, 'a body is only ever pruned'); END""",
    """CREATE TABLE jobs (
  call_id TEXT PRIMARY KEY,
  first INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  stage TEXT NOT NULL,
  started INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  owner TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX jobs_open ON jobs (owner, first) WHERE stage <> 'closed'",
    "CREATE INDEX jobs_changed ON jobs (seq) WHERE changed = 1",
)
"""Entries, the bodies that were too large for them, and the jobs that are read off them."""

CONSENT = (
    """CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  effect TEXT NOT NULL,
  principal TEXT NOT NULL,
  state TEXT NOT NULL,
  created REAL NOT NULL,
  term TEXT NOT NULL,
  record TEXT NOT NULL,
  seal BLOB NOT NULL
) STRICT""",
    "CREATE INDEX approvals_by_effect ON approvals (effect, principal, state)",
    "CREATE INDEX approvals_open ON approvals (created) WHERE state = 'pending'",
    """CREATE TABLE grants (
  id TEXT PRIMARY KEY,
  root TEXT NOT NULL,
  term TEXT NOT NULL,
  record TEXT NOT NULL,
  seal BLOB NOT NULL
) STRICT""",
    "CREATE INDEX grants_by_root ON grants (root)",
    """CREATE TABLE leases (
  holder TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  boot TEXT NOT NULL,
  since REAL NOT NULL,
  until REAL NOT NULL
) STRICT, WITHOUT ROWID""",
)
"""Approvals, grants, and who watches for approvals. `seal` is the digest of the rest of the row."""

CONTENT = (
    """CREATE TABLE blobs (
  digest TEXT PRIMARY KEY,
  data BLOB NOT NULL
) STRICT""",
    """CREATE TABLE artifacts (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  size INTEGER NOT NULL,
  media TEXT NOT NULL,
  pieces BLOB NOT NULL
) STRICT""",
)
"""Small blobs, and what is known of each artifact: `pieces` holds one digest for every 64 KiB."""
