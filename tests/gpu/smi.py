# SPDX-License-Identifier: MIT
"""What NVIDIA's own command says of a GPU, once or again and again."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

Series = list[tuple[float, float]]
"""Moments, in seconds, and what was read at each."""
COMMAND = "nvidia-smi"
FORMAT = "--format=csv,noheader,nounits"
LOOP = "--loop-ms=50"
PATIENCE = 20.0
"""Seconds within which the command has begun to tell, and has told the rest."""


def is_there() -> bool:
    """Tell whether the command is installed."""
    return shutil.which(COMMAND) is not None


def ask(*fields: str, uuid: str | None = None) -> list[list[str]]:
    """Return the values of fields, as text, for every GPU or for one."""
    which = [f"--id=GPU-{uuid}"] if uuid else []
    said = subprocess.run(
        [COMMAND, *which, f"--query-gpu={','.join(fields)}", FORMAT],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    return [line.split(", ") for line in said.stdout.splitlines()]


def mebibytes(field: str, uuid: str) -> int:
    """Return bytes of which the command tells the mebibytes."""
    ((told,),) = ask(field, uuid=uuid)
    return int(told) * 2**20


@contextmanager
def watched(field: str, uuid: str, path: Path) -> Iterator[Series]:
    """Read a field of a GPU as long as the context lasts; its readings are there afterwards.

    path : takes what the command says
    """
    readings: Series = []
    with path.open("w", encoding="ascii") as log:
        process = subprocess.Popen(
            [COMMAND, f"--id=GPU-{uuid}", f"--query-gpu=timestamp,{field}", FORMAT, LOOP],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | {"TZ": "UTC0"},
        )
    try:
        _until(path, time.time())
        yield readings
        readings += _until(path, time.time())
    finally:
        process.kill()
        process.wait()


def parse(text: str) -> Series:
    """Return when each whole line was said, in seconds of the system's clock, and its number."""
    readings = []
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            stamp, value = line.split(", ")
            at = datetime.strptime(stamp, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC)
            readings.append((at.timestamp(), float(value)))
    return readings


def _until(path: Path, moment: float) -> Series:
    """Return the readings, once there is one from after a moment."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        readings = parse(path.read_text(encoding="ascii"))
        if readings and readings[-1][0] > moment:
            return readings
        time.sleep(0.1)
    raise TimeoutError(f"{COMMAND} told nothing more: {path.read_text(encoding='ascii')[-200:]}")
