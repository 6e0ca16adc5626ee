# SPDX-License-Identifier: MIT
"""What is called `*.json` and is no file that can be read: refused by name, and nothing waits."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from frobench.command import main
from frobench.suite.files import LARGEST_FILE
from frobench.suite.stored import store
from tests.reports.site.test_site import files, small

NO_FILE = "not a regular file"


def pipe(path: Path) -> None:
    os.mkfifo(path)


def plug(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def linked_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def linked_pipe(path: Path) -> None:
    pipe(path.with_name("pipe"))
    path.symlink_to("pipe")


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)


STRANGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (pipe, NO_FILE),
    "socket": (plug, NO_FILE),
    "folder": (Path.mkdir, NO_FILE),
    "nowhere": (linked_to("nothing"), "cannot be read: No such file"),
    "itself": (linked_to("itself.json"), "cannot be read: Too many levels"),
    "zeros": (linked_to("/dev/zero"), NO_FILE),
    "linked-pipe": (linked_pipe, NO_FILE),
    "linked-folder": (linked_to("."), NO_FILE),
    "large": (large, "larger than 50 MB"),
    "empty": (Path.touch, "the file is cut off"),
}


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """End a test that waits for a file that never ends."""

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of one good run, called `good.json`, and everything strange."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "good.json").write_bytes(store.encode(small(1)))
    for name, (make, _) in STRANGE.items():
        make(tmp_path / "runs" / f"{name}.json")
    return tmp_path / "runs"


def called(*arguments: object) -> Result:
    """Call the command in this process."""
    return CliRunner().invoke(main, [*map(str, arguments)])


def given(folder: Path, *, by_name: bool) -> list[Path]:
    """Return the folder, or every file in it; a folder that is named is searched."""
    if not by_name:
        return [Path(folder.name)]
    return [Path(folder.name, one.name) for one in sorted(folder.iterdir()) if not one.is_dir()]


def assert_each_is_named(output: str, *, by_name: bool) -> None:
    for name, (_, why) in STRANGE.items():
        if by_name and name.endswith("folder"):
            continue
        assert f"runs/{name}.json: unreadable: {why}" in output


@pytest.mark.parametrize("by_name", [True, False])
def test_validate_names_each_and_judges_the_rest(folder: Path, *, by_name: bool) -> None:
    shown = called("validate", *given(folder, by_name=by_name))
    assert shown.exit_code == 1
    assert_each_is_named(shown.output, by_name=by_name)
    assert "runs/good.json: valid" in shown.output.splitlines()


@pytest.mark.parametrize("by_name", [True, False])
def test_report_names_each_and_writes_the_other_pages(
    folder: Path, tmp_path: Path, *, by_name: bool
) -> None:
    shown = called("report", *given(folder, by_name=by_name), "-o", "site")
    assert shown.exit_code == 1
    assert_each_is_named(shown.output, by_name=by_name)
    assert called("report", "runs/good.json", "-o", "alone").exit_code == 0
    strange, alone = files(tmp_path / "site"), files(tmp_path / "alone")
    page = strange["index.html"].decode()
    assert "<strong>pipe.json</strong>: unreadable: not a regular file" in page
    changed = {name for name in alone if strange.get(name) != alone[name]}
    assert changed == {"index.html"}


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize(
    "verb",
    [
        ("show",),
        ("share",),
        ("reproduce",),
        ("export", "--bencher"),
        ("compare",),
        ("compare", "--purchase", "runs/good.json"),
    ],
    ids=lambda verb: verb[0],
)
@pytest.mark.usefixtures("folder")
def test_a_verb_of_one_file_refuses_it(verb: tuple[str, ...], name: str) -> None:
    shown = called(*verb, f"runs/{name}.json")
    if name.endswith("folder"):
        assert (shown.exit_code, "is a directory" in shown.output) == (2, True)
    else:
        assert shown.exit_code == 1
        assert f"runs/{name}.json: unreadable: {STRANGE[name][1]}" in shown.output


def test_a_link_to_a_stored_run_is_read(folder: Path) -> None:
    (folder.parent / "link.json").symlink_to("runs/good.json")
    assert called("validate", "link.json").output.endswith("link.json: valid\n")
