# SPDX-License-Identifier: MIT
"""The task of a node: it starts `frobench run` there, and yields its output and its stored file.

Ray sends its functions to the node with the constants that they name. The node may have another
Frobench or none, so they call nothing but the standard library.
"""

import hashlib
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from frobench.suite.checkout import SOURCES
from frobench.suite.run.lock import LOCK, VARIABLE
from frobench.suite.run.runner import KEY
from frobench.suite.stored.store import PARTIAL

POLL = 0.5
"""Seconds between two looks at what a run has printed."""
SAVING = 30.0
"""Seconds that an interrupted run is given to save what it finished."""
VISIBLE = (
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ONEAPI_DEVICE_SELECTOR",
)
"""Variables by which a cluster hides accelerators from a task that asked for none."""
BOUND = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 15)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""A program that becomes a run, which gets SIGTERM (15) when its task's process dies (option 1 of
`prctl`, PR_SET_PDEATHSIG): no run outlives its task, and each saves what it finished."""


Said = str | tuple[str, bytes]
"""Text that a run has printed, or a file of it: its path and content."""


@dataclass(frozen=True)
class Order:
    """What every node is asked to do.

    Parameters
    ----------
    fleet
        Names the folder that keeps what is unfinished on a node.
    options
        Of `frobench run`.
    code
        Digest of the sources, which every node must have.
    key
        Of the labels, as hexadecimal digits.
    deadline
        Seconds of a run, from the moment when it holds the machine.
    beat
        Seconds between two signs of life.
    """

    fleet: str
    options: list[str]
    code: str
    key: str
    deadline: float
    beat: float


def measure(order: Order, name: str, label: str, accelerators: float) -> Iterator[Said]:
    """Measure this node, or go on with a run that was cut short.

    Yields what the run prints, or an empty text as a sign of life; then its file, or what an
    interrupted run has finished. Raises `RuntimeError` if there is no whole file, with the reason.

    Parameters
    ----------
    label
        Made from the name by the key; also the name of the node's folder.
    accelerators
        How many the task was given.
    """
    spec = find_spec("frobench")
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{sys.executable} has no Frobench; install it on every node")
    home = Path(spec.origin).resolve().parents[1]
    if digest(home) != order.code:
        raise RuntimeError(
            "another Frobench is installed: its cases could not be compared; "
            "install the same version on every node"
        )
    folder = _folder(order.fleet, label)
    results = folder / "results"
    results.mkdir(mode=0o700, parents=True, exist_ok=True)
    (results / KEY).write_bytes(bytes.fromhex(order.key))
    reason = ""
    if not _stored(results):
        reason = yield from _run(order, name, folder, _environment(home, accelerators))
    for path in _stored(results) or _stored(results, whole=False):
        yield str(path), path.read_bytes()
    if not _stored(results):
        raise RuntimeError(reason or "it stored nothing")


def forget(fleet: str, label: str) -> None:
    """Remove what is kept of a run whose file has arrived."""
    folder = _folder(fleet, label)
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # nodes of the same machine have theirs in it
        folder.parent.rmdir()


def digest(home: Path) -> str:
    """Return a digest of the files that move numbers, below the folder of `frobench`."""
    sha256 = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in home.glob(pattern)):
        sha256.update(path.relative_to(home).as_posix().encode())
        sha256.update(hashlib.sha256(path.read_bytes()).digest())
    return sha256.hexdigest()


def _run(
    order: Order, name: str, folder: Path, environment: dict[str, str]
) -> Generator[str, None, str]:
    """Yield what a run prints until it ends; return why it failed, if it did."""
    results, log = folder / "results", folder / "log"
    command = [sys.executable, "-c", BOUND, "-m", "frobench", "run", "--wait", "--label", name]
    command += ["--results", str(results), *order.options]
    if any(results.glob(".runs/[!.]*/plan.json")):
        command += ["--resume", "last"]
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - this Python and this project
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    lock, begun, spoke = Path(os.environ.get(VARIABLE) or LOCK), math.inf, time.monotonic()
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            while process.poll() is None:
                time.sleep(POLL)
                now, text = time.monotonic(), lines.read()
                if text or now - spoke >= order.beat:
                    yield text
                    spoke = now
                if begun > now and _holds(lock, process.pid):
                    begun = now
                if now - begun > order.deadline:
                    return f"hung: no end within {order.deadline:g} s"
            yield lines.read()
    finally:
        process.terminate()
        try:
            process.wait(SAVING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    text = log.read_text(encoding="utf-8", errors="replace")
    reasons = re.findall("^(?:frobench|Error): (.*)", text, re.MULTILINE) or text.splitlines()
    return str(reasons[-1]) if reasons else f"its run ended with exit code {process.returncode}"


def _holds(lock: Path, pid: int) -> bool:
    """Return whether a process holds the machine, according to the lock's file."""
    with suppress(OSError):
        return not os.access(lock, os.W_OK) or f"process {pid}," in lock.read_text()
    return False


def _folder(fleet: str, label: str) -> Path:
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"frobench-fleet-{user}" / fleet / label


def _stored(results: Path, *, whole: bool = True) -> list[Path]:
    """Return the files of whole runs, or those of interrupted ones."""
    files = sorted(results.glob("[!.]*/*.json"))
    return [path for path in files if path.name.endswith(PARTIAL) != whole]


def _environment(home: Path, accelerators: float) -> dict[str, str]:
    """Return the node's environment: of what Ray sets, only the accelerators that it gave.

    With the number of threads that Ray sets, the CPU's cases would be slower.
    """
    before: dict[str, str] = {}
    with suppress(OSError):  # as this process was started, on Linux
        text = Path("/proc/self/environ").read_text(errors="surrogateescape")
        before = dict(pair.split("=", 1) for pair in text.split("\0") if "=" in pair)
    of_ray = {"OMP_NUM_THREADS", *(() if accelerators else VISIBLE)}
    kept = {name: value for name, value in os.environ.items() if name not in of_ray}
    kept |= {name: before[name] for name in of_ray & before.keys()}
    paths = [str(home), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {"PYTHONPATH": os.pathsep.join(paths)}
