# SPDX-License-Identifier: MIT
"""What a tool is to this comparison, and what it hands over.

All times are in seconds.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from msgspec import Struct, field

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "PEERS_FOLDER"
"""The environment variable that names the folder in which waits write down their lengths."""
Samples = Sequence[float]
Interval = tuple[float, float]


class Process(Struct, kw_only=True):
    """What one process of a tool says of one body.

    samples : seconds per call, one of each sample as the tool has it
    recorded : the mean length that a wait recorded in each of these samples
    own_call : what a call of the wait takes beyond the length that it records
    two_readings : what two readings of the clock take in this process
    alone : of the whole process, had it measured this body alone
    shared : of the whole process, divided by the bodies that it measured
    """

    samples: list[float]
    recorded: list[float] = field(default_factory=list)
    own_call: float = 0.0
    two_readings: float = 0.0
    alone: float = 0.0
    shared: float = 0.0


class Measurement(Struct, kw_only=True):
    """One use of a tool on one body.

    alone, shared : what the use takes beyond its processes (a pilot, a calibration, the command
        itself), for one body alone and as this body's part among those measured together
    """

    body: str
    processes: list[Process]
    alone: float = 0.0
    shared: float = 0.0

    def samples(self) -> list[list[float]]:
        """Return the samples by process."""
        return [process.samples for process in self.processes]

    def recorded(self) -> list[list[float]]:
        """Return what a wait recorded in each of the samples, by process."""
        return [process.recorded for process in self.processes]


class Order(Struct, frozen=True, kw_only=True):
    """What a tool is asked for.

    bodies : names, see `bodies`
    folder : to write to, for this use alone
    processes : how many are wanted, of a tool whose users choose their number
    budget : for all of it, of a tool that takes one
    device : what the bodies run on, such as ``sim:0``
    """

    bodies: tuple[str, ...]
    folder: Path
    processes: int
    budget: float | None = None
    device: str = "cpu"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a user concludes from a tool's numbers.

    replicates : whether the interval is made from a number of each process, rather than from the
        samples of a single one
    number : samples of a process to the number that the process contributes
    least : processes that an interval needs
    interval : from the numbers of processes, or from the samples of one
    estimand : the samples of all processes to what the interval is meant to hold
    differs : whether two measurements of a body are called different
    interval_rule, alarm_rule : `interval` and `differs` in words
    """

    replicates: bool
    number: Callable[[Samples], float]
    least: int
    interval: Callable[[Samples], Interval]
    estimand: Callable[[Sequence[Samples]], float]
    differs: Callable[[Measurement, Measurement], bool]
    interval_rule: str
    alarm_rule: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """How a tool is used.

    usage : what a user writes, as the page shows it
    distribution : the package whose version is named
    measure : use it as its users do, in fresh processes
    reports : the samples of processes to the number that the tool shows
    devices : ways to write a body on an accelerator, see `bodies`
    uses : in a round of the real bodies
    processes : of a use, where users choose their number
    costly : whether a use takes so long that only the main bodies have one, in every other round
    """

    name: str
    usage: str
    distribution: str
    measure: Callable[[Order], list[Measurement]]
    reports: Callable[[Sequence[Samples]], float]
    rules: Rules
    devices: tuple[str, ...]
    uses: int = 1
    processes: int = 1
    costly: bool = False


def run(
    *arguments: object, order: Order, environment: Mapping[str, str] | None = None
) -> tuple[float, str]:
    """Run Python with these arguments as a user would; return the seconds and what it printed.

    Every body has one thread: the tools differ in how many they let torch take.

    Raises
    ------
    RuntimeError
        It failed; the message has the end of what it said.
    """
    order.folder.mkdir(parents=True, exist_ok=True)
    # A pytest of ours around it is nothing to the tool.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own = {
        FOLDER: str(order.folder),
        "OMP_NUM_THREADS": "1",
        "FROBENCH_LOCK": str(order.folder / "lock"),
    }
    if order.device.startswith("sim"):
        own["PYTHONPATH"] = os.pathsep.join(
            [str(ROOT), str(ROOT / "tests" / "instruments" / "simulated")]
        )
    begun = perf_counter()
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env={**kept, **own, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = perf_counter() - begun
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise RuntimeError(f"{' '.join(map(str, arguments))} failed:\n{said}")
    return seconds, done.stdout


def alone(wall: float, own: Sequence[float]) -> list[float]:
    """Return what a process would have taken for each of its bodies alone.

    Parameters
    ----------
    wall
        Of the process, which measured several bodies.
    own
        What each of them took.
    """
    return [wall - (sum(own) - mine) for mine in own]


def grouped(lengths: Samples, iterations: int, samples: int, after: int = 0) -> list[float]:
    """Return the mean length of the calls in each sample.

    Parameters
    ----------
    lengths
        Of every call, in order; the samples came last, but for the calls `after` them.
    iterations
        Calls in a sample.

    Raises
    ------
    ValueError
        There are fewer calls than that.
    """
    end = len(lengths) - after
    begin = end - iterations * samples
    if begin < 0:
        raise ValueError(f"{samples} samples of {iterations} calls, but {end} calls")
    return [
        sum(lengths[start : start + iterations]) / iterations
        for start in range(begin, end, iterations)
    ]
