# SPDX-License-Identifier: MIT
"""The goals that only a real GPU can tell: measure what other tools say, and judge.

``python -m tests.gpu.anchors -o FOLDER [--only PART...]`` measures the parts named, each
held against the suite in one process where that is fair, adds them to what FOLDER holds from
earlier calls, judges every goal from that, and writes
``FOLDER/anchors.json`` and the goals of ``FOLDER/anchors.md``. Without a part it only judges.

On a machine that one has for ten minutes at a time:

1. ``python3 -m frobench run --profile standard`` (at most 8 minutes)
2. ``python3 -m tests.gpu.anchors -o FOLDER --only peak`` (9 minutes: the suite's search 3.5, the
   scan 5, the final half a minute)
3. ``python3 -m tests.gpu.anchors -o FOLDER --only times --only copies`` (3 minutes, of which
   cuda-bench takes 1.5), then ``python3 -m pytest -m gpu tests/gpu``
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from frobench.suite.errors import CannotRunError
from tests.gpu.goals import Figures, judge, page

PARTS = ("times", "copies", "peak")
FIGURES, PAGE = "anchors.json", "anchors.md"
ROUNDS, FINAL_ROUNDS = 8, 20
SCAN_SECONDS = 300.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is asked for, and judge everything that is known."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.gpu.anchors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", choices=PARTS, action="append", default=[])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--scan", type=float, default=SCAN_SECONDS, metavar="SECONDS")
    wanted = parser.parse_args(arguments)
    wanted.output.mkdir(parents=True, exist_ok=True)
    stored = wanted.output / FIGURES
    figures = msgspec.json.decode(stored.read_bytes(), type=Figures) if stored.exists() else None
    try:
        for part in wanted.only:
            figures = measure(part, figures, wanted)
            stored.write_bytes(msgspec.json.format(msgspec.json.encode(figures)) + b"\n")
    except CannotRunError as error:  # the machine measures already
        sys.exit(str(error))
    if figures is None:
        figures = Figures(date="", device="", torch="")
    shown = page(figures, judge(figures))
    (wanted.output / PAGE).write_text(shown, encoding="utf-8")
    print(shown)  # noqa: T201 - a command


def measure(part: str, before: Figures | None, wanted: argparse.Namespace) -> Figures:
    """Return the figures with a part of them measured, or measured anew."""
    import torch

    from frobench.suite.kit.device import Device
    from frobench.suite.measure.settling_and_gauge import steady_clocks
    from frobench.suite.run.lock import machine_lock
    from tests.gpu import anchors_cuda, anchors_measure, anchors_peak

    device = Device(wanted.device)
    figures = before or Figures(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        device=device.module.get_device_name(device.handle),
        torch=str(torch.__version__),
    )
    if part == "peak":
        found = anchors_peak.search(device, wanted.output / "search")
    with machine_lock(), tempfile.TemporaryDirectory() as folder:
        steady_clocks([device])
        if part == "times":
            figures.missing = {}
            figures.times = anchors_measure.times(device, ROUNDS, Path(folder), figures.missing)
        elif part == "copies":
            figures.copies = anchors_cuda.copies(device, ROUNDS)
        else:
            figures.peak = anchors_peak.peak(device, wanted.scan, FINAL_ROUNDS, found)
    return figures


if __name__ == "__main__":
    main()
