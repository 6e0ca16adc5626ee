# SPDX-License-Identifier: MIT
"""The figures that a comparison leaves: `docs/peers.json`, in seconds and fractions."""

from msgspec import Struct


class ToolFigures(Struct, kw_only=True):
    """A tool as it was used."""

    name: str
    version: str
    usage: str
    interval_rule: str
    alarm_rule: str


class Wait(Struct, kw_only=True):
    """What a tool reports of a wait that records its own length; medians over its uses.

    recorded : what the wait recorded in the tool's samples, put together as the tool does
    excess : reported beyond recorded
    own_call : what a call takes beyond what it records, seen by a bare loop in the same process
    error : the excess beyond that call
    two_readings : what two readings of the clock take in the same processes
    """

    tool: str
    body: str
    reported: float
    recorded: float
    excess: float
    own_call: float
    error: float
    two_readings: float


class OnDevice(Struct, kw_only=True):
    """What a tool reports of a product on an accelerator.

    work, wait : what the device takes for it, and a user who waits for it, where that is known
    """

    tool: str
    device: str
    body: str
    reported: float
    work: float | None
    wait: float | None


class Empty(Struct, kw_only=True):
    """What a tool reports of a call of a body that does nothing."""

    tool: str
    reported: float


class Effort(Struct, kw_only=True):
    """What it takes a tool to say +-1% of a body, and whether that is true.

    value : of all processes, what the tool's interval is meant to hold
    spread : standard deviation of the numbers of processes, relative to their mean
    pool : processes measured
    processes : the fewest whose interval is typically within 1%, and honest if any number is;
        ``None`` if it never is
    half_width : of such an interval, the median, relative
    coverage : the part of such intervals that hold the value
    honest : whether that is at least 93%
    alone, shared : seconds for this body alone, and as a part of all that were measured together
    """

    tool: str
    body: str
    value: float
    spread: float
    pool: int
    processes: int | None
    half_width: float | None
    coverage: float | None
    honest: bool
    alone: float | None
    shared: float | None


class Alarms(Struct, kw_only=True):
    """How often a tool's user calls identical code different.

    pairs, different : uses of neighbouring rounds, each in one pair, and those called different
    upper : end of the one-sided 95% interval of the share (Clopper and Pearson)
    shuffled : the share where the same processes are put together in any order
    """

    tool: str
    pairs: int
    different: int
    upper: float
    shuffled: float | None


class Goal(Struct, kw_only=True):
    """What is asked of Frobench, what was seen, and whether it was met."""

    goal: str
    seen: str
    met: bool


class Figures(Struct, kw_only=True):
    """Everything that one comparison found.

    date : UTC
    together : the bodies measured together
    failed : uses of tools that went wrong
    """

    date: str
    machine: str
    python: str
    seconds: float
    together: int
    tools: list[ToolFigures]
    waits: list[Wait]
    devices: list[OnDevice]
    empty: list[Empty]
    efforts: list[Effort]
    alarms: list[Alarms]
    goals: list[Goal]
    failed: list[str]
