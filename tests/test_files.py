"""Files and folders are replaced as a whole or not at all."""

from __future__ import annotations

import errno
import gzip
import os
import stat
from pathlib import Path
from typing import NoReturn

import pytest
import spacy

from spacy_cascade import save_pipeline
from spacy_cascade.errors import SavingError
from spacy_cascade.files import (
    UNREADABLE,
    append_to_file,
    fill_file,
    remove_leftovers,
    remove_leftovers_in,
    replace_file,
    replace_folder,
    temporary_folder,
    text_lines,
)


def no_room(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fill(folder: Path, text: str = "new") -> None:
    (folder / "part").mkdir()
    (folder / "part" / "file").write_text(text)
    (folder / "meta").write_text(text)


def files(folder: Path) -> dict[str, str]:
    """Texts of all files in a folder, by name."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


NEW = {"part/file": "new", "meta": "new"}
of_unix = pytest.mark.skipif(os.name == "nt", reason="Windows has other rules for folders")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with another file, beside which nothing else is."""
    (tmp_path / "model").mkdir()
    fill(tmp_path / "model", "old")
    (tmp_path / "model/README").write_text("mine")
    return tmp_path / "model"


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "model"
    replace_file(path, b"old")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["model"]


def test_a_file_is_there_before_it_is_filled(tmp_path: Path) -> None:
    """Beside its place, and empty; if nothing is written the new one is, too."""
    seen: list[tuple[Path, bytes]] = []
    replace_file(tmp_path / "model", b"old")
    fill_file(tmp_path / "model", lambda path: seen.append((path, path.read_bytes())))
    ((temporary, data),) = seen
    assert (temporary.parent, data) == (tmp_path, b"")
    assert temporary.name.startswith(".model.")
    assert files(tmp_path) == {"model": ""}


@pytest.mark.parametrize("name", ["plain.txt", "packed.gz", "PACKED.GZ"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_of_a_text(name: str, mark: bytes, tmp_path: Path) -> None:
    """Whatever the mark in front of a UTF-8 text, and how it is packed."""
    data = mark + "µg\nand more".encode()
    path = tmp_path / name
    path.write_bytes(data if name == "plain.txt" else gzip.compress(data))
    assert list(text_lines(path)) == list(text_lines(str(path))) == ["µg\n", "and more"]


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.txt", b"\xff\xff"), ("a.gz", b"no gzip"), ("a.gz", gzip.compress(b"text" * 99)[:-9])],
    ids=["no UTF-8", "no gzip", "cut"],
)
def test_what_is_no_text(name: str, data: bytes, tmp_path: Path) -> None:
    with pytest.raises(UNREADABLE):
        list(text_lines(tmp_path / name))
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UNREADABLE):
        list(text_lines(tmp_path / name))


def test_it_may_be_read_by_those_who_may_read_other_files(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    replace_file(tmp_path / "model", b"")
    modes = {(tmp_path / name).stat().st_mode for name in ("other", "model")}
    assert len(modes) == 1


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_what_was_there_stays_when_writing_fails(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    replace_file(path, b"old")
    monkeypatch.setattr(os, failing, no_room)
    with pytest.raises(SavingError, match=r"model: No space left on device\. What was there"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_stop_in_between_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    replace_file(path, b"old")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_place_that_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SavingError, match="Cannot save"):
        replace_file(tmp_path / "file" / "model", b"")


def test_a_folder_is_made_and_replaced(old: Path) -> None:
    """What only the old folder has stays, as when files are written into it."""
    replace_folder(old.parent / "new" / "model", fill)
    replace_folder(old.parent / "deep" / "er" / "model", fill)
    assert (
        files(old.parent / "new")
        == files(old.parent / "deep" / "er")
        == {f"model/{name}": text for name, text in NEW.items()}
    )
    replace_folder(old, fill)
    assert files(old) == {**NEW, "README": "mine"}
    assert sorted(os.listdir(old.parent)) == ["deep", "model", "new"]


@of_unix
def test_who_may_read_a_folder_stays(old: Path) -> None:
    old.chmod(0o700)
    replace_folder(old, fill)
    assert old.stat().st_mode & 0o777 == 0o700


def test_a_link_to_a_folder_stays_a_link(old: Path) -> None:
    link = old.with_name("current")
    link.symlink_to(old, target_is_directory=True)
    replace_folder(link, fill)
    assert link.is_symlink()
    assert files(old)["meta"] == "new"


@pytest.mark.parametrize("failing", ["fsync", "rename", "mkdir"])
def test_an_old_folder_stays_when_the_new_one_cannot_be_written(
    failing: str, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(old)
    # Python 3.10's `pathlib` holds the functions of `os` that were there when it was imported.
    monkeypatch.setattr(os if failing == "fsync" else Path, failing, no_room)
    with pytest.raises(SavingError, match=r"model: No space left on device\. What was there"):
        replace_folder(old, fill)
    assert files(old) == before
    assert os.listdir(old.parent) == ["model"]


def test_errors_within_a_folder_name_the_folder(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", no_room)
    with pytest.raises(SavingError, match=r"Cannot save .*model: No space left") as caught:
        replace_folder(old, lambda folder: replace_file(folder / "part", b""))
    assert "part" not in str(caught.value)


def test_a_folder_that_is_not_filled_is_not_kept(old: Path) -> None:
    before = files(old)

    def stop(folder: Path) -> None:
        fill(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace_folder(old, stop)
    assert files(old) == before
    assert os.listdir(old.parent) == ["model"]


def test_the_next_call_puts_back_what_was_set_aside(old: Path) -> None:
    """A process that ends between two renames leaves the old folder under its other name."""
    before = files(old)
    aside = old.with_name(".model.replaced")
    old.rename(aside)
    with pytest.raises(ZeroDivisionError):
        replace_folder(old, lambda _: 1 / 0)
    assert files(old) == before
    old.rename(aside)
    replace_folder(old, fill)
    assert files(old) == {**NEW, "README": "mine"}
    assert os.listdir(old.parent) == ["model"]


@pytest.fixture(params=["works there", "works below", "mounted", "nothing beside it"])
def fixed(request: pytest.FixtureRequest, old: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that cannot be moved."""
    if request.param == "works there":
        monkeypatch.chdir(old)
    elif request.param == "works below":
        (old / "below").mkdir()
        monkeypatch.chdir(old / "below")
    elif request.param == "mounted":
        monkeypatch.setattr(os.path, "ismount", lambda path: path == old)
    else:
        needed = os.W_OK | os.X_OK
        monkeypatch.setattr(
            os, "access", lambda path, mode: path != old.parent or (mode & needed) != needed
        )
    return old


def test_a_folder_that_cannot_be_moved_stays_the_same_one(fixed: Path) -> None:
    number, here = fixed.stat().st_ino, os.getcwd()
    for _ in range(2):
        replace_folder(fixed, fill)
        assert files(fixed) == {**NEW, "README": "mine"}
        assert set(os.listdir(fixed)) - {"below"} == {"part", "meta", "README"}
        # A third folder might have the number of the first one again.
        assert (fixed.stat().st_ino, os.getcwd()) == (number, here)


def test_a_pipeline_is_saved_where_the_process_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        save_pipeline(spacy.blank("en"), ".")
        assert spacy.load(".").lang == "en"


def fail_at_a_move(n_passed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at one move, after so many."""
    rename, calls = Path.rename, []

    def fail_once(path: Path, to: Path) -> None:
        calls.append(path)
        if len(calls) == n_passed + 1:
            no_room()
        rename(path, to)

    monkeypatch.setattr(Path, "rename", fail_once)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("mine")
    with pytest.raises(SavingError, match="Cannot save"):
        replace_folder(tmp_path / "model", fill)
    assert files(tmp_path) == {"model": "mine"}


def test_no_room_for_temporary_files() -> None:
    wanted = pytest.raises(SavingError, match=r"temporary files in .*No space left.*TMPDIR")
    with wanted, temporary_folder() as folder:
        no_room()
    assert not folder.exists()
    with pytest.raises(FileNotFoundError), temporary_folder():
        raise FileNotFoundError


class Disk:
    """What reached the disk, and what took which name, in order.

    A file or a folder is told by its number (inode), which stays when it takes another name.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, int]] = []
        self._fsync, self._replace, self._rename = os.fsync, os.replace, Path.rename
        monkeypatch.setattr(os, "fsync", self.fsync)
        monkeypatch.setattr(os, "replace", self.replace)
        monkeypatch.setattr(Path, "rename", lambda path, to: self.rename(path, to))

    def fsync(self, handle: int) -> None:
        self.calls.append(("written", os.fstat(handle).st_ino))
        self._fsync(handle)

    def replace(self, old: Path, new: Path) -> None:
        self.calls.append(("named", os.stat(old).st_ino))
        self._replace(old, new)

    def rename(self, path: Path, to: Path) -> None:
        self.calls.append(("named", path.stat().st_ino))
        self._rename(path, to)

    def place(self, what: str, path: Path) -> int:
        """When it happened last."""
        number = path.stat().st_ino
        found = [place for place, call in enumerate(self.calls) if call == (what, number)]
        assert found, f"{path} was never {what}"
        return found[-1]


@of_unix
def test_a_file_is_on_the_disk_before_it_takes_the_name_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is not written may lose the name in a crash, or still have the old file."""
    disk, path = Disk(monkeypatch), tmp_path / "model"
    replace_file(path, b"data")
    assert disk.place("written", path) < disk.place("named", path) < disk.place("written", tmp_path)


@of_unix
@pytest.mark.parametrize("works_there", [False, True])
def test_all_of_a_folder_is_on_the_disk_before_it_takes_the_name_and_the_name_after(
    works_there: bool, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if works_there:
        monkeypatch.chdir(old)
    disk = Disk(monkeypatch)
    replace_folder(old, fill)
    made = [old / name for name in ("part", "part/file", "meta")]
    named = [old / "part", old / "meta"] if works_there else [old]
    first = min(disk.place("named", path) for path in named)
    last = max(disk.place("named", path) for path in named)
    assert all(disk.place("written", path) < first for path in made)
    assert disk.place("written", old if works_there else old.parent) > last
    if not works_there:
        assert disk.place("written", old) < first, "and the names of its files"


def test_a_folder_that_cannot_be_written_to_the_disk_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems refuse it for folders, and some systems cannot open them."""
    fsync, opened = os.fsync, []

    def refuse_folders(handle: int) -> None:
        opened.append(handle)
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    replace_file(tmp_path / "model", b"data")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[-1])
    monkeypatch.setattr(os, "open", no_room)
    replace_file(tmp_path / "other", b"data")
    assert files(tmp_path) == {"model": "data", "other": "data"}


@pytest.mark.parametrize("n_passed", range(7))
def test_folders_links_and_new_names_are_put_back(
    n_passed: int, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four entries one is new and one a link; any move fails."""
    monkeypatch.chdir(old)
    (old / "link").symlink_to(old / "part", target_is_directory=True)
    before = files(old)

    def fill_more(folder: Path) -> None:
        fill(folder)
        (folder / "link").symlink_to(folder / "part", target_is_directory=True)
        (folder / "a folder").mkdir()
        (folder / "a folder/file").write_text("new")

    fail_at_a_move(n_passed, monkeypatch)
    with pytest.raises(SavingError, match="No space left"):
        replace_folder(old, fill_more)
    assert files(old) == before
    assert sorted(os.listdir(old)) == ["README", "link", "meta", "part"]
    assert (old / "link").is_symlink()


def test_no_room_for_the_new_entries(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder that cannot be moved; the message is that of the disk."""
    monkeypatch.chdir(old)
    before = files(old)
    monkeypatch.setattr(Path, "mkdir", no_room)
    with pytest.raises(SavingError, match="No space left"):
        replace_folder(old, fill)
    assert files(old) == before


@of_unix
def test_a_process_whose_folder_is_gone_saves_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    (tmp_path / "model").mkdir()
    before = (tmp_path / "model").stat().st_ino
    replace_folder(tmp_path / "model", fill)
    assert files(tmp_path / "model") == NEW
    assert (tmp_path / "model").stat().st_ino != before, "all at once, as it is not in use"


def test_errors_without_a_text_of_the_system(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        raise OSError("the network is down")

    with pytest.raises(SavingError, match="model: the network is down"):
        fill_file(tmp_path / "model", fail)


LEFT = ".model.0123456789abcdef"


def test_leftovers_of_a_file_are_removed(tmp_path: Path) -> None:
    """Nothing else is, and what cannot be removed is passed over."""
    others = [".model.0123456789abcdeg", ".model.0123", ".other.0123456789abcdef", "model"]
    for name in (LEFT, *others):
        (tmp_path / name).write_text("")
    (tmp_path / LEFT.replace("0", "1")).mkdir()
    remove_leftovers(tmp_path / "model")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, LEFT.replace("0", "1")])
    remove_leftovers(tmp_path / "missing" / "model")


def test_leftovers_in_a_folder_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [".git", "model.0123456789abcdef", ".a.0123"]
    (tmp_path / "deep").mkdir()
    for folder in (tmp_path, tmp_path / "deep"):
        (folder / ".folder.0123456789abcdef").mkdir()
        for name in (LEFT, *kept):
            (folder / name).write_text("")
    remove_leftovers_in(tmp_path)
    expected = sorted([*kept, ".folder.0123456789abcdef"])
    assert sorted(os.listdir(tmp_path / "deep")) == expected
    assert sorted(os.listdir(tmp_path)) == sorted([*expected, "deep"])
    (tmp_path / LEFT).write_text("")
    monkeypatch.setattr(Path, "unlink", no_room)
    remove_leftovers_in(tmp_path)
    assert (tmp_path / LEFT).exists()


def test_what_is_added_to_a_file_is_there_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    for data in (b"one\n", b"", b"two\n"):
        append_to_file(path, data)
    assert path.read_bytes() == b"one\ntwo\n"
    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(SavingError, match=r"Cannot save .*log: No space left on device"):
        append_to_file(path, b"three\n" * 100_000)
    assert path.read_bytes() == b"one\ntwo\n"
    monkeypatch.undo()
    append_to_file(path, b"three\n")
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    with pytest.raises(SavingError, match="Cannot save"):
        append_to_file(tmp_path, b"one")


@of_unix
def test_what_is_added_is_on_the_disk_and_so_is_a_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To write the folder each time would take as long again."""
    reached: list[object] = []

    def fsync(handle: int) -> None:
        found = os.fstat(handle)
        reached.append(found.st_size if stat.S_ISREG(found.st_mode) else found.st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    for data in (b"one\n", b"two\n"):
        append_to_file(tmp_path / "log", data)
    assert reached == [4, tmp_path.stat().st_ino, 8]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device without room")
def test_a_disk_without_room_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("/dev/full")
    with pytest.raises(SavingError, match="No space left on device"):
        append_to_file(tmp_path / "log", b"one\n")
