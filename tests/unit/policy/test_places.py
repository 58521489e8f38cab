"""Names that are never written, or only with a yes, at any depth and in any spelling that could be the same file."""

import pytest

from toolcrib.policy.places import HOST_RUN, PROTECTED, host_run, is_canonical, protected


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (".git", ".git"),
        (".git/config", ".git"),
        ("a/b/.git/hooks/x", ".git"),
        (".GIT/config", ".git"),
        (".Git", ".git"),
        (".ｇit/x", ".git"),
        (".toolcrib/config.toml", ".toolcrib"),
        (".gitignore", None),
        (".GITIGNORE", None),
        (".github/x", None),
        ("git/config", None),
        (".git2/x", None),
        ("a.git/x", None),
        (".git /x", None),
        ("toolcrib", None),
    ],
)
def test_a_name_is_protected_in_any_case_and_its_look_alikes_are_free(path: str, name: str | None) -> None:
    assert protected(path) == name


@pytest.mark.parametrize(
    ("further", "path", "hit"),
    [
        ("keys", "keys/a", True),
        ("./keys/", "keys", True),
        ("deep/keys", "deep/keys/a", True),
        ("deep/keys", "DEEP/Keys", True),
        ("deep/keys", "deep", False),
        ("keys", "a/keys", False),
        ("keys", "keys.txt", False),
    ],
)
def test_configured_paths_stand_where_they_say(further: str, path: str, hit: bool) -> None:
    assert (protected(path, further=[further]) is not None) == hit


@pytest.mark.parametrize("name", HOST_RUN)
def test_host_run_files_are_known_at_any_depth_and_in_any_case(name: str) -> None:
    for path in (name, f"sub/{name}", name.upper(), f"{name}/x", f"a/b/{name}/x/y"):
        assert host_run(path) == name
    for path in (f"{name}x", f"x{name}", name.lstrip(".")):
        assert host_run(path) is None


def test_the_parent_of_a_host_run_directory_counts_only_as_a_whole() -> None:
    assert host_run(".github") == ".github/workflows"
    assert host_run("a/.github") == ".github/workflows"
    assert host_run(".github/CODEOWNERS") is None
    assert host_run("workflows/x") is None


def test_the_lists_are_those_of_the_design() -> None:
    assert PROTECTED == (".git", ".toolcrib")
    assert set(HOST_RUN) == {
        *(".mcp.json", ".claude", ".cursor", ".vscode", ".idea", ".devcontainer", ".husky"),
        *(".envrc", ".github/workflows", ".agents", ".gitmodules"),
    }


@pytest.mark.parametrize("path", ["a", "a/b", ".", ".a", "a..b", "..a", "a b", "~a", "\\", "a\nb"])
def test_a_canonical_path_is_one(path: str) -> None:
    assert is_canonical(path)


@pytest.mark.parametrize("path", ["", "/", "/a", "a/", "a//b", "./a", "a/..", "..", "a/./b", "a\0"])
def test_any_other_path_is_none(path: str) -> None:
    assert not is_canonical(path)
