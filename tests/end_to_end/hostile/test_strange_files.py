# SPDX-License-Identifier: MIT
"""What is called `*.json` and is no file that can be read: refused by name, and nothing waits."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from frobench.suite.files import LARGEST_FILE
from frobench.suite.stored import store
from tests.end_to_end.test_options import called
from tests.reports.site.test_site import files, small

NO_FILE = "not a regular file"


def plug(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def linked_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)


def spelt(old: bytes, new: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(store.encode(small(1)).replace(old, new, 1))


STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (os.mkfifo, NO_FILE),
    "socket": (plug, NO_FILE),
    "folder": (Path.mkdir, NO_FILE),
    "nowhere": (lambda path: path.symlink_to("nothing"), "cannot be read: No such file"),
    "itself": (lambda path: path.symlink_to(path.name), "cannot be read: Too many levels"),
    "zeros": (lambda path: path.symlink_to("/dev/zero"), NO_FILE),
    "linked-pipe": (linked_pipe, NO_FILE),
    "linked-folder": (lambda path: path.symlink_to("."), NO_FILE),
    "large": (large, "larger than 50 MB"),
    "empty": (Path.touch, "the file is cut off"),
    "misspelt": (
        spelt(b'"rounds":', b'"round":'),
        "Object missing required field `rounds` - at `$.benchmarks[0].stats`",
    ),
    "flipped-bit": (spelt(b'"seed"', b'"\xf3eed"'), "not UTF-8"),
    "flipped-bit-unread": (spelt(b'"seed"', b'"unr\xe5ad": 1, "seed"'), "not UTF-8"),
}


PURCHASE = "compare --purchase runs/good.json"
VERBS = ("show", "share", "reproduce", "export --bencher", "compare", PURCHASE)


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """End a test that waits for a file that never ends."""
    waited = pytest.fail.Exception("a file is waited for")  # no command takes it for its own
    before = signal.signal(signal.SIGALRM, Mock(side_effect=waited))
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
    return tmp_path


@pytest.mark.parametrize("by_name", [True, False])
def test_each_is_named_and_the_rest_is_judged_and_reported(folder: Path, *, by_name: bool) -> None:
    files_alone = [path for path in sorted(Path("runs").glob("*.json")) if not path.is_dir()]
    given = files_alone if by_name else ["runs"]
    judged, reported = called("validate", *given), called("report", *given, "-o", "site")
    assert judged.exit_code == reported.exit_code == 1
    for told in (judged.stdout, reported.stderr):
        for name, (_, why) in STRANGE.items():
            if not (by_name and name.endswith("folder")):  # one that is named is searched
                assert f"runs/{name}.json: unreadable: {why}" in told
    assert "runs/good.json: valid" in judged.stdout.splitlines()
    assert called("report", "runs/good.json", "-o", "alone").exit_code == 0
    strange, alone = files(folder / "site"), files(folder / "alone")
    page = strange["index.html"].decode()
    assert "<strong>pipe.json</strong>: unreadable: not a regular file" in page
    changed = {name for name in alone if strange.get(name) != alone[name]}
    assert changed == {"index.html"}


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("folder")
def test_a_verb_of_one_file_refuses_it(verb: str, name: str) -> None:
    shown = called(*verb.split(), f"runs/{name}.json")
    if name.endswith("folder"):
        assert (shown.exit_code, "is a directory" in shown.output) == (2, True)
    else:
        assert shown.exit_code == 1
        assert f"runs/{name}.json: unreadable: {STRANGE[name][1]}" in shown.output


def test_a_link_to_a_stored_run_is_read(folder: Path) -> None:
    (folder / "link.json").symlink_to("runs/good.json")
    assert called("validate", "link.json").output.endswith("link.json: valid\n")
