# SPDX-License-Identifier: MIT
"""What runs on a node: it starts `frobench run` there and yields how it goes.

The module is sent to the node, which may have another Frobench or none. So it imports the standard
library alone, and its messages are plain dictionaries (`suite.fleet.messages`).
"""

import hashlib
import json
import math
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, TextIO

PATIENCE = 30.0
"""Seconds that a run is given to save what it finished."""
VISIBLE = (
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ONEAPI_DEVICE_SELECTOR",
)
"""Variables by which a cluster hides accelerators from a task that asked for none."""
GUARD = f"""
import os, signal, subprocess, sys, threading
if os.fork():
    os._exit(0)
os.setsid()
run = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=2)
with open(sys.argv[1], "w") as file:
    file.write(str(run.pid))
def watch():
    os.read(0, 1)
    run.send_signal(signal.SIGTERM)
    try:
        run.wait({PATIENCE})
    except subprocess.TimeoutExpired:
        os.killpg(0, signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
code = run.wait()
try:
    os.write(1, str(code if code >= 0 else 128 - code).encode())
finally:
    os._exit(0)
"""
"""A program that starts a run, writes its exit code, and interrupts it when its input is closed: no
run outlives the task that started it, and each has the time to save what it finished. Ray kills the
children of a task that ends, so the program is none for long; and Ray lets tasks ignore SIGINT,
which a run would do too."""

Said = dict[str, Any]


def measure(asked: Said, name: str, folder_name: str, accelerators: float) -> Iterator[Said]:
    """Measure this node, or go on with a run that was cut short, and yield what happens.

    asked : fields of `suite.fleet.messages.Asked`
    name : of the node, from which its run makes the label
    folder_name : of this node's run, apart from other nodes of the same machine
    accelerators : how many the task was given
    """
    spec = find_spec("frobench")
    home = Path(spec.origin).resolve().parents[1] if spec and spec.origin else None
    yield {"type": "about", "torch": _version("torch")}
    message = _refusal(home, asked)
    if home is None or message:
        yield {"type": "ended", "message": message}
        return
    folder, partial = _folder(asked["fleet"], folder_name), (asked["partial"],)
    results = folder / "results"
    try:
        results.mkdir(mode=0o700, parents=True, exist_ok=True)
        (results / asked["key_file"]).write_bytes(bytes.fromhex(asked["key"]))
        if not _stored(results, but=partial):
            run = _Run(folder, _command(asked, results, name), _environment(home, accelerators))
            yield from run.to_its_end(asked)
            message = run.message
        for path in _stored(results):
            yield {"type": "file", "path": str(path), "content": path.read_bytes()}
    except OSError as error:
        message = f"{error.filename or folder}: {error.strerror or error}"
    yield {"type": "ended", "message": "" if _stored(results, but=partial) else message}


def forget(fleet: str, folder_name: str) -> None:
    """Remove what is kept of a run whose files have arrived."""
    folder = _folder(fleet, folder_name)
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # nodes of the same machine have theirs in it
        folder.parent.rmdir()


def digest(home: Path, patterns: Iterable[str]) -> str:
    """Return a digest of the files below a folder whose paths match a pattern."""
    sha256 = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in home.glob(pattern)):
        sha256.update(path.relative_to(home).as_posix().encode())
        sha256.update(hashlib.sha256(path.read_bytes()).digest())
    return sha256.hexdigest()


class _Run:
    """A run in a process of its own, which ends with this one."""

    def __init__(self, folder: Path, command: list[str], environment: dict[str, str]) -> None:
        self._code, self.message = 137, ""  # unless its own is learnt: killed
        self._log = folder / "log"
        self._pid = folder / "pid"
        self._pid.unlink(missing_ok=True)
        with self._log.open("wb") as log:
            self._guard = subprocess.Popen(  # noqa: S603 - this Python and this project
                [sys.executable, "-c", GUARD, str(self._pid), *command],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
            )
        self._guard.wait()

    def to_its_end(self, asked: Said) -> Iterator[Said]:
        lock = Path(os.environ.get(asked["lock_variable"]) or asked["lock"])
        begun: float | None = None
        last_line = time.monotonic()
        # The guard's pipes are closed whatever happens: the task may be cancelled.
        with self._guard, self._log.open(encoding="utf-8", errors="replace") as log:
            while not self._ended(within=0.2):
                now = time.monotonic()
                yield from _whole_lines(log)
                if begun is None and self._holds(lock):
                    begun = now
                    yield {"type": "began"}
                elif now - last_line >= asked["beat"]:
                    last_line = now
                    yield {"type": "beat"}
                if begun is not None and now - begun > asked["deadline"]:
                    self.message = f"hung: no end within {asked['deadline']:g} s"
                    self._pipe("stdin").close()
                    begun = math.inf  # it ends now, or is killed
            yield from _whole_lines(log)
        if self._code and not self.message:
            self.message = self._last_words()

    def _ended(self, within: float) -> bool:
        output = self._pipe("stdout")
        if not select.select([output], [], [], within)[0]:
            return False
        self._code = int(output.read() or self._code)
        return True

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self._guard, name)
        return pipe

    def _holds(self, lock: Path) -> bool:
        try:  # by what it wrote into the lock's file
            note = json.loads(lock.read_text())
            return not os.access(lock, os.W_OK) or note["pid"] == int(self._pid.read_text())
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _last_words(self) -> str:
        text = self._log.read_text(encoding="utf-8", errors="replace")
        reasons = re.findall("^(?:frobench|Error): (.*)", text, re.MULTILINE)
        return (reasons or text.splitlines() or [f"its run ended with exit code {self._code}"])[-1]


def _whole_lines(log: TextIO) -> Iterator[Said]:
    position = log.tell()
    while (line := log.readline()).endswith("\n"):
        yield {"type": "line", "text": line.rstrip("\n")}
        position = log.tell()
    log.seek(position)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _refusal(home: Path | None, asked: Said) -> str:
    if home is None:
        return f"{sys.executable} has no Frobench; install the same version on every node"
    if digest(home, asked["sources"]) != asked["code"]:
        return (
            f"another Frobench is installed ({_version('frobench')}, with other sources): its "
            "cases could not be compared; install the same version on every node"
        )
    benchmarks = asked["benchmarks"]
    if benchmarks is not None and not Path(benchmarks).is_dir():
        return f"{benchmarks} is no folder there; --benchmarks must lie on every node"
    return ""


def _folder(fleet: str, folder_name: str) -> Path:
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"frobench-fleet-{user}" / fleet / folder_name


def _stored(results: Path, but: tuple[str, ...] = ()) -> list[Path]:
    return [path for path in sorted(results.glob("[!.]*/*.json")) if not path.name.endswith(but)]


def _command(asked: Said, results: Path, name: str) -> list[str]:
    unfinished = any(results.glob(".runs/[!.]*/plan.json"))
    command = [sys.executable, "-m", "frobench", "run", "--wait", "--label", name]
    command += ["--results", str(results), *asked["options"]]
    if asked["benchmarks"] is not None:
        command += ["--benchmarks", asked["benchmarks"]]
    return [*command, "--resume", "last"] if unfinished else command


def _environment(home: Path, accelerators: float) -> dict[str, str]:
    # As the node has it, without what Ray sets for a task but the accelerators that it was given.
    environment, before = dict(os.environ), {}
    with suppress(OSError):  # the environment that this process was started with, on Linux
        text = Path("/proc/self/environ").read_bytes().decode(errors="surrogateescape")
        before = dict(pair.split("=", 1) for pair in text.split("\0") if "=" in pair)
    # With the number of threads that Ray sets, the CPU's cases would be slower.
    for name in ("OMP_NUM_THREADS", *([] if accelerators else VISIBLE)):
        environment.pop(name, None)
        if name in before:
            environment[name] = before[name]
    paths = [str(home), *filter(None, [environment.get("PYTHONPATH")])]
    return environment | {"PYTHONPATH": os.pathsep.join(paths)}
