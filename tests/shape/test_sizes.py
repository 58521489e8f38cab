"""Files and functions stay small enough to read at once."""

from shape.house import ROOT, modules

FILE_CAP = 400
FUNCTION_CAP = 60

CATALOGUES: tuple[str, ...] = ()
"""Files that are lists of data and may be longer than the cap, by name."""


def test_no_module_is_longer_than_the_cap() -> None:
    long = [
        f"{m.name}: {len(m.lines)} lines" for m in modules() if len(m.lines) >= FILE_CAP and m.name not in CATALOGUES
    ]
    assert long == []


def test_every_named_catalogue_needs_its_exception() -> None:
    sizes = {m.name: len(m.lines) for m in modules()}
    assert [name for name in CATALOGUES if sizes.get(name, 0) < FILE_CAP] == []


def test_no_function_is_longer_than_the_cap() -> None:
    long = [
        f"{m.name}:{f.lineno} {f.name}: {size} lines"
        for m in modules()
        for f in m.functions()
        if (size := (f.end_lineno or f.lineno) - f.lineno + 1) >= FUNCTION_CAP
    ]
    assert long == []


def test_no_test_file_is_longer_than_twice_the_cap() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {size} lines"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if (size := len(path.read_text(encoding="utf-8").splitlines())) >= 2 * FILE_CAP
    ]
    assert long == []
