# SPDX-License-Identifier: MIT
"""Copies: latency and bandwidth of each way to move bytes, and what waiting or sharing costs."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.answers import Answer, ask, ask_either, ask_on, at, no_accelerator
from frobench.reports.findings.cold import cold_plot, longer
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Series, bound
from frobench.reports.findings.fit import LEAST_SIZES, Line, fit
from frobench.reports.findings.select import PROOF, Cases, Curve, NotMeasuredError, lanes
from frobench.reports.findings.values import VALUE, behind, estimate_of, is_above, text
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Scalar
from frobench.suite.units import format_value

TO_DEVICE, TO_HOST = "bench_to_device", "bench_to_host"
COLD, NUMPY, PRINT = "bench_within_cold", "bench_numpy", "bench_print"
PRINTED = 1000
"""Numbers in the longest tensor that is printed in full, of 4 bytes each."""
FASTER = 1.2
"""Rate of copies as a multiple of that of other sizes, from which sizes are worth advice."""
SIZE, RATE, TIME = Axis("Size", "B"), Axis("Bandwidth", "B/s"), Axis("Time", "s")
ALONE = {"all-to-device": TO_DEVICE, "all-to-host": TO_HOST}
"""What copies of several devices at the same time are compared with."""

LARGE = 2**24
"""Bytes from which a copy's rate is its bandwidth."""


@dataclass(frozen=True)
class Kind:
    """A kind of copies.

    where : the parameters of its cases
    phrase : what follows "copies", with braces for the device or devices
    label : its line in the chart of the device or devices
    """

    function: str
    where: Mapping[str, Scalar]
    phrase: str
    label: str

    def devices(self, cases: Cases) -> list[str]:
        """Return the devices, or groups of them, that it was measured on, the CPU last."""
        measured = cases.values("device", function=self.function, **self.where)
        return sorted(map(str, measured), key=is_cpu)

    def curve(self, cases: Cases, device: str, what: str = "seconds") -> Curve:
        """Return a column of the frame by launch and by size."""
        return cases.curve("size", what, function=self.function, device=device, **self.where)

    def name(self, cases: Cases, device: str) -> str:
        """Spell what follows "copies" in a sentence."""
        return self.phrase.format(cases.the(device))


_PAGEABLE, _PINNED = {"memory": "pageable"}, {"memory": "pinned"}
_TO, _FROM, _BETWEEN = "bench_to_device", "bench_to_host", "bench_between"
KINDS = {
    "to-device": Kind(_TO, _PAGEABLE, "from pageable memory to {}", "to it, pageable"),
    "to-host": Kind(_FROM, _PAGEABLE, "from {} to pageable memory", "from it, pageable"),
    "to-device-pinned": Kind(_TO, _PINNED, "from pinned memory to {}", "to it, pinned"),
    "to-host-pinned": Kind(_FROM, _PINNED, "from {} to pinned memory", "from it, pinned"),
    "between": Kind(_BETWEEN, {"way": "direct"}, "between {}", "between them"),
    "between-through-host": Kind(
        _BETWEEN,
        {"way": "through_host"},
        "between {} through the host",
        "between them, through the host",
    ),
    "within": Kind("bench_within", {}, "within the memory of {}", "within it"),
}
"""Those with a latency and a bandwidth of their own, what an unsuspecting program does first."""
_ALL = "bench_all_at_once"
AT_ONCE = {
    "all-to-device": Kind(_ALL, {"direction": "to_device"}, "to {}", "to all at once"),
    "all-to-host": Kind(_ALL, {"direction": "to_host"}, "from {}", "from all at once"),
    "both-ways": Kind("bench_both_ways", {}, "to {} and back", "both at once"),
}
"""Several copies at the same time."""


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each way to copy, that of an unsuspecting program first."""
    for name, kind in KINDS.items():
        for device in kind.devices(cases):
            question = f"How fast are copies {kind.name(cases, device)}?"
            ways = {f"bandwidth-{name}-{device}": _bandwidth, f"rate-{name}-{device}": _rate}
            yield ask_either(question, ways, cases, kind, device)
    for name, question in (
        ("to-device", "How fast are copies to an accelerator, and back?"),
        ("between", "How fast are copies from one accelerator to another?"),
    ):
        if not KINDS[name].devices(cases):
            yield ask(name, question, no_accelerator, cases, KINDS[name].function)
    yield ask("non-blocking", "How long does a copy hold the thread?", _non_blocking, cases)
    question = "Do copies in both directions slow each other down?"
    yield ask("both-ways", question, _both_ways, cases)
    for name in ALONE:
        for group in AT_ONCE[name].devices(cases):
            question = f"Do copies {AT_ONCE[name].name(cases, group)} at once take longer?"
            yield ask(f"{name}-{group}", question, _all_at_once, cases, name, group)
    questions = (
        ("cold-copy", "What do cold caches cost copies within the memory of {}?", _cold_copy),
        ("numpy", "What does a NumPy array of a tensor on {} cost?", _to_numpy),
        ("print", "What does printing a tensor on {} cost?", _printing),
    )
    yield from ask_on(cases, KINDS["within"].devices(cases), *questions)


def bandwidth_of(cases: Cases, name: str, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return the bandwidth of a kind of copies by launch, and the cases behind it.

    It is that of the line that fits, or else the rate of the largest copy, if that is larger than
    caches are.
    """
    kind = KINDS[name]
    times = kind.curve(cases, device)
    size = times.sizes[-1]
    if size < LARGE:
        raise NotMeasuredError("no copy was larger than caches are")
    with suppress(NotMeasuredError):
        return _slope(cases, kind, device, fit(times)), behind(times)
    return kind.curve(cases, device, "byte_rate").at(size), times.cases[size]


def _slope(cases: Cases, kind: Kind, device: str, line: Line) -> pd.Series:
    """Return the bytes a second on a line, of all the bytes that a copy counts."""
    counted = kind.curve(cases, device, "bytes")
    size = counted.sizes[-1]
    return line.rate * (counted.at(size) / size)


def _bandwidth(cases: Cases, kind: Kind, device: str) -> Answer:
    where, times = kind.name(cases, device), kind.curve(cases, device)
    line = fit(times)
    speed = _slope(cases, kind, device, line)
    return Answer(
        f"{VALUE} for copies {where}",
        behind(times),
        speed,
        RATE.unit,
        f"Join copies below {_bytes(estimate_of(line.half).value)}.",
        f"{peaks.of_copy(cases.run, device, kind.function, speed)}; a latency of "
        f"{text(line.latency, TIME.unit)}; half of that bandwidth at {text(line.half, SIZE.unit)}",
    )


def _rate(cases: Cases, kind: Kind, device: str) -> Answer:
    times, speeds = kind.curve(cases, device), kind.curve(cases, device, "byte_rate")
    small, large, where = times.sizes[0], times.sizes[-1], kind.name(cases, device)
    tiny = f"; {text(times.at(small), TIME.unit)} for {_bytes(small)}" if small < large else ""
    if len(times.sizes) >= LEAST_SIZES:
        tiny += "; no single line fits the times between"
    return Answer(
        f"{VALUE} for {_bytes(large)} {where}",
        behind(times.ends()),
        speeds.at(large),
        RATE.unit,
        _small_or_large(kind, speeds),
        f"{peaks.of_copy(cases.run, device, kind.function, speeds.at(large))}{tiny}",
    )


def _small_or_large(kind: Kind, speeds: Curve) -> str:
    """Advise pieces that fit the caches, or large ones, where these are copied faster."""
    *others, large = speeds.sizes
    whole = speeds.at(large)
    from_caches = [n for n in others if is_above((speeds.at(n) / whole).dropna(), FASTER)]
    if kind is KINDS["within"] and from_caches:
        return f"Work in pieces of {_bytes(max(from_caches))} or less: caches copy them faster."
    if others and is_above((whole / speeds.at(others[0])).dropna(), FASTER):
        return "Join small copies."
    return ""


def _non_blocking(cases: Cases) -> Answer:
    device = cases.accelerator()
    waited, unwaited = (
        cases.curve("size", "part_enqueue", function=TO_DEVICE, device=device, memory=memory)
        for memory in ("pinned", "non_blocking")
    )
    size = (waited / unwaited).sizes[-1]
    return at(unwaited, size, TIME.unit, f"for launching a non_blocking copy of {_bytes(size)}")


def _both_ways(cases: Cases) -> Answer:
    where = {"function": AT_ONCE["both-ways"].function, "device": cases.accelerator()}
    proved, at_once, in_turn = lanes(cases, "size", *PROOF, **where)
    size = proved.sizes[-1]
    words = f"as fast both at once as strictly in turn, {_bytes(size)} each way"
    return replace(at(in_turn / at_once, size, RATIO, words), cases=proved.cases[size])


def _all_at_once(cases: Cases, name: str, group: str) -> Answer:
    first, count = group.partition("+")[0], group.count("+") + 1
    alone = cases.curve("size", function=ALONE[name], device=first, memory="non_blocking")
    ratio = alone / AT_ONCE[name].curve(cases, group)
    size = ratio.sizes[-1]
    return at(ratio, size, "1", f"of {count} times the rate of one copy alone, {_bytes(size)} each")


def _cold_copy(cases: Cases, device: str) -> Answer:
    return longer(_cold(cases, device), _bytes)


def _to_numpy(cases: Cases, device: str) -> Answer:
    times = cases.curve("size", function=NUMPY, device=device)
    size, shared = times.sizes[-1], ", which shares its memory" if device == "cpu" else ""
    return at(times, size, TIME.unit, f"for a NumPy array of {_bytes(size)}{shared}")


def _printing(cases: Cases, device: str) -> Answer:
    times = cases.curve("size", function=PRINT, device=device)
    return at(times, 4.0 * PRINTED, TIME.unit, f"for printing {PRINTED:,} numbers")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw bandwidth by size for each device and group, and of copies within them."""
    within = KINDS["within"]
    others = [kind for kind in (KINDS | AT_ONCE).values() if kind is not within]
    for device in cases.devices():
        kinds = [(kind, kind.label, device) for kind in others if device in kind.devices(cases)]
        title = f"Bandwidth of copies: {cases.title(device)}"
        yield _by_size(cases, kinds, f"bandwidth-{device}", title, "the link, one way")
    devices = within.devices(cases)
    kinds = [(within, cases.title(device), device) for device in devices]
    title = "Bandwidth of copies within a device, bytes read and written"
    yield _by_size(cases, kinds, "bandwidth-within", title, "accelerator's memory")
    yield cold_plot("copy", SIZE, _cold, cases, devices)


def _by_size(
    cases: Cases, kinds: list[tuple[Kind, str, str]], name: str, title: str, limit: str
) -> Plot:
    """Draw the bandwidth of kinds of copies, each with its label and device, below their limit."""
    lines = tuple(
        kind.curve(cases, device, "byte_rate").series(label) for kind, label, device in kinds
    )
    bounds: tuple[Series, ...] = ()
    if lines:
        kind, _, device = kinds[0]
        function = kind.function if kind is KINDS["within"] else TO_DEVICE
        ceiling = peaks.bound_of_copy(cases.run, device, function)
        bounds = bound(limit, ceiling.rate if ceiling else None, RATE.unit, lines)
    return Plot(name, title, "curve", SIZE, RATE, lines, lines=bounds)


def _cold(cases: Cases, device: str) -> Curve:
    """Return how many times as long a copy takes with cold caches, by size."""
    return cases.curve("size", function=COLD, device=device) / KINDS["within"].curve(cases, device)


def _bytes(size: float) -> str:
    return format_value(size, SIZE.unit)
