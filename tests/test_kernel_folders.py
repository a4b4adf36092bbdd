"""Where compiled kernels may be kept: only where nobody else can write."""

from __future__ import annotations

import itertools
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from numba.misc import appdirs

from spacy_cascade import kernel_cache as folders

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source file."""
    folders._is_private.cache_clear()
    package = tmp_path / "package"
    package.mkdir(0o755)
    return package / "kernels.py"


def chosen(source: Path, named: Path | str = "") -> list[Path]:
    users = source.parent.parent / "users"
    folders.kernel_folders.cache_clear()
    return list(folders.kernel_folders(source.parent, str(named), users))


def make_folder(path: Path, mode: int) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("system", "cache"), [("linux", "numba"), ("win32", "numba/Cache"), ("darwin", "numba")]
)
def test_the_cache_of_a_user_is_where_numba_has_it(
    system: str, cache: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, given = source.parent.parent, []
    monkeypatch.setattr(appdirs, "system", system)
    monkeypatch.setattr(appdirs, "_get_win_folder", lambda name: str(home), raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.setattr(folders, "kernel_folders", lambda *each: given.append(each) or ())
    function: Any = test_the_cache_of_a_user_is_where_numba_has_it
    compiled = SimpleNamespace(py_func=function, targetoptions={})
    assert folders.KernelCache(compiled).cache_path == ""
    ((beside, _, users),) = given
    assert (beside, users) == (Path(__file__).absolute().parent, home / cache)


def test_a_new_folder_is_its_owners_alone(source: Path) -> None:
    kept = source.parent.parent / "deep" / "kept"
    (folder,) = chosen(source, kept)
    assert folder.parent == kept
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o722])
def test_a_folder_that_others_can_write_to_is_refused(
    mode: int, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = make_folder(source.parent.parent / "open", mode)
    monkeypatch.setattr(folders, "_is_private", lambda group: False)
    with pytest.warns(UserWarning, match=f"below {shared}: another user can write there"):
        assert chosen(source, shared) == [source.parent / "__pycache__"]


def test_so_is_a_folder_below_one_like_that(source: Path) -> None:
    shared = make_folder(source.parent.parent / "open", 0o777)
    with pytest.warns(UserWarning, match="another user"):
        assert chosen(source, shared / "own") == [source.parent / "__pycache__"]
    link = source.parent.parent / "link"
    link.symlink_to(shared / "own")
    with pytest.warns(UserWarning, match="another user"):
        assert chosen(source, link) == [source.parent / "__pycache__"]


def test_a_folder_in_which_only_owners_move_files_may_be_above(source: Path) -> None:
    shared = make_folder(source.parent.parent / "tmp", 0o1777)
    (folder,) = chosen(source, shared / "own")
    assert folder.parent == shared / "own"


def test_a_folder_of_another_user_is_refused(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = make_folder(source.parent.parent / "kept", 0o700)
    assert chosen(source, kept)[0].parent == kept
    monkeypatch.setattr(folders, "_user", lambda: os.geteuid() + 1)
    monkeypatch.setattr(folders, "_ROOT", os.geteuid() + 2)
    with pytest.warns(UserWarning, match="another user"):
        # The package is that user's, too, so its folder is no worse than its source.
        assert chosen(source, kept) == [source.parent / "__pycache__"]


def test_the_folder_beside_a_source_is_compared_with_it(source: Path) -> None:
    pycache = make_folder(source.parent / "__pycache__", 0o757)
    with pytest.warns(UserWarning, match="__pycache__"):
        (folder,) = chosen(source)
    assert folder.is_relative_to(source.parent.parent / "users")
    source.parent.chmod(0o757)
    assert chosen(source) == [pycache]


def test_a_group_of_ones_own_is_nobody_else(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = make_folder(source.parent.parent / "kept", 0o770)
    monkeypatch.setattr(folders, "_is_private", lambda group: group == kept.stat().st_gid)
    assert chosen(source, kept)[0].parent == kept
    monkeypatch.undo()
    assert not folders._is_private(2**31 - 2), "nobody knows who is in this group"


def test_a_shared_folder_itself_is_refused_though_only_owners_move_files(source: Path) -> None:
    """Anybody can put new files there."""
    shared = make_folder(source.parent.parent / "tmp", 0o1777)
    assert folders._danger(shared, source.parent) == shared
    assert folders._danger(shared / "own", source.parent) is None


class Group(NamedTuple):
    gr_mem: list[str]


class User(NamedTuple):
    pw_name: str
    pw_gid: int


@pytest.mark.parametrize(
    ("members", "users", "is_private"),
    [
        ([], [("me", 7)], True),
        (["me"], [("me", 1), ("root", 0)], True),
        (["me", "root"], [("me", 7), ("root", 7)], True),
        ([], [("other", 5)], True),
        (["other"], [("me", 7)], False),
        (["me", "other"], [], False),
        ([], [("me", 7), ("other", 7)], False),
    ],
)
def test_a_group_is_private_without_other_members(
    members: list[str],
    users: list[tuple[str, int]],
    is_private: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Members are those that the group names, and those whose own group it is."""
    grp, pwd = pytest.importorskip("grp"), pytest.importorskip("pwd")
    asked = []

    def user(number: int) -> User:
        asked.append(number)
        return User("me", 7)

    monkeypatch.setattr(grp, "getgrgid", lambda group: Group(list(members)))
    monkeypatch.setattr(pwd, "getpwall", lambda: [User(*each) for each in users])
    monkeypatch.setattr(pwd, "getpwuid", user)
    folders._is_private.cache_clear()
    assert folders._is_private(7) is is_private
    assert asked == [os.geteuid()]
    folders._is_private.cache_clear()


def test_without_groups_none_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grp", None)
    folders._is_private.cache_clear()
    assert not folders._is_private(7)
    folders._is_private.cache_clear()


class Status(NamedTuple):
    st_mode: int
    st_uid: int
    st_gid: int = 0


def test_who_may_write_beside_a_source(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """User 7 trusts itself, root, and whoever owns the source; and all who may write to that."""
    pycache, found = source.parent / "__pycache__", {}
    monkeypatch.setattr(Path, "exists", lambda path: True)
    monkeypatch.setattr(Path, "stat", lambda path: found[path])
    monkeypatch.setattr(folders, "_user", lambda: 7)
    owners = itertools.product([0, 7, 8], [0, 7, 8, 9])
    modes = itertools.product([0o755, 0o775, 0o757, 0o777], [0o700, 0o770, 0o707, 0o777])
    for (of_source, owner), (source_mode, mode) in itertools.product(owners, modes):
        found[source.parent], found[pycache] = Status(source_mode, of_source), Status(mode, owner)
        new_writers = mode & 0o022 & ~source_mode
        for is_private in (True, False):
            monkeypatch.setattr(folders, "_is_private", lambda group, answer=is_private: answer)
            is_worse = (
                owner not in {0, 7, of_source}
                or bool(new_writers & 0o002)
                or (bool(new_writers & 0o020) and not is_private)
            )
            assert folders._danger(pycache, source.parent) == (pycache if is_worse else None)


def test_where_files_have_no_owners_none_is_anothers(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.write_own(source, b"code")
    source.chmod(0o666)
    assert folders._is_open(source.stat())
    monkeypatch.delattr(os, "geteuid")
    assert not folders._is_open(source.stat())
    assert folders.read_own(source) == b"code"


def test_a_file_of_another_user_is_not_read(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders.write_own(source, b"code")
    assert folders.read_own(source) == b"code"
    user = os.geteuid()
    monkeypatch.setattr(folders, "_ROOT", user + 2)
    monkeypatch.setattr(folders, "_user", lambda: user + 1)
    with pytest.raises(PermissionError, match=r"may be another user's"):
        folders.read_own(source)
    monkeypatch.setattr(folders, "_ROOT", user)
    assert folders.read_own(source) == b"code"


@pytest.mark.parametrize("mode", [0o666, 0o646, 0o664, 0o660, 0o622])
def test_a_file_that_others_can_write_to_is_not_read(
    source: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_is_private", lambda group: False)
    folders.write_own(source, b"code")
    source.chmod(mode)
    with pytest.raises(PermissionError):
        folders.read_own(source)
    monkeypatch.setattr(folders, "_is_private", lambda group: True)
    if not mode & stat.S_IWOTH:
        assert folders.read_own(source) == b"code"


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_what_is_written_is_read_whatever_rights_new_files_have(
    source: Path, mask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_is_private", lambda group: False)
    before = os.umask(mask)
    try:
        folders.write_own(source, b"code")
    finally:
        os.umask(before)
    assert folders.read_own(source) == b"code"
    assert stat.S_IMODE(source.stat().st_mode) == 0o644 & ~mask


def test_links_pipes_and_folders_are_not_read(source: Path) -> None:
    folders.write_own(source, b"code")
    link, pipe = source.with_name("link"), source.with_name("pipe")
    link.symlink_to(source)
    os.mkfifo(pipe)
    for path in (link, pipe, source.parent, source.with_name("missing")):
        with pytest.raises(OSError, match=r"symbolic links|another user|directory|No such"):
            folders.read_own(path)
