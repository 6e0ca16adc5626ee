# SPDX-License-Identifier: MIT
"""On native Windows stored runs can be read; what measures refuses in one line.

Windows is imitated: `sys.platform` says so, and what only Unix has is missing. The libraries that
Frobench uses are imported before that, since they would load what only Windows has.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

import noxfile
from tests.instruments.processes.command import ROOT, python
from tests.instruments.processes.project_files import EXAMPLE_RUN

IMITATION = """
import io, json, os, signal, sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module

for library in json.loads(sys.argv[1]):
    import_module(library)
for module in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[module] = None
for name in ("fchmod", "fork", "getpgid", "getuid", "killpg", "O_NOFOLLOW", "O_NONBLOCK", "pread",
             "pwrite", "sched_getaffinity", "setsid"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGUSR1"):
    delattr(signal, name)
sys.platform = "win32"

from frobench.command import main

told = []
for call in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(call, prog_name="frobench")
        except SystemExit as end:
            code = end.code
    told.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(told))
"""
LIBRARIES = [
    *("click", "jinja2", "matplotlib", "msgspec", "pandas", "psutil", "pyarrow", "rich"),
    *("concurrent.futures.process", "matplotlib.font_manager", "mimetypes"),
    "multiprocessing.connection",
]
REFUSAL = "frobench: measuring needs Linux or macOS; on Windows, call frobench in WSL2\n"
FILE = str(EXAMPLE_RUN)
MEASURING = [*(["run"], ["list"], ["reproduce", FILE], ["history", "--range", "a..b"]), ["fleet"]]
READING = [
    ["validate", FILE],
    ["show", FILE],
    ["export", FILE, "--bencher"],
    ["compare", FILE, "again.json"],
    ["share", FILE, "-o", "shared"],
    ["report", FILE],
]


def on_windows(folder: Path, *calls: list[str]) -> list[tuple[int, str, str]]:
    """Call `frobench` several times; return the exit code, output and messages of each call."""
    words = ("-c", IMITATION, json.dumps(LIBRARIES), json.dumps(calls))
    variables = os.environ | {"PYTHONPATH": str(ROOT), "USERNAME": "somebody"}
    done = python(*words, folder=folder, variables=variables)
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


def test_stored_runs_are_read_and_what_measures_refuses_in_one_line(tmp_path: Path) -> None:
    shutil.copy(FILE, tmp_path / "again.json")
    results = on_windows(tmp_path, *READING, *MEASURING)
    for call, (code, out, err) in zip(READING, results, strict=False):
        assert (code, bool(out)) == (0, True), (call, err)
    assert results[len(READING) :] == [(3, "", REFUSAL)] * len(MEASURING)


def test_the_session_downloads_nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    session = Mock(spec=["error"], error=Mock(side_effect=RuntimeError))  # it can do nothing else
    with pytest.raises(RuntimeError):
        noxfile.bench.func(session)
    assert "WSL2" in session.error.call_args.args[0]
