# SPDX-License-Identifier: MIT
"""Moving data: copies, where tensors are created, and parameters of models."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.answers import answered, ask, ask_either, ask_on, at, largest
from frobench.reports.findings.compared import cold_plot, longer
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Series
from frobench.reports.findings.fit import fit
from frobench.reports.findings.plots import bound, dots, lines, ways_on_devices
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.values import SIZE, VALUE, behind, estimate_of, is_above, size, text
from frobench.suite.stored.machine_identity import is_cpu, ranks_of
from frobench.suite.stored.types import Scalar
from frobench.suite.units import capital, format_value

TO_DEVICE, TO_HOST = "bench_to_device", "bench_to_host"
COLD, NUMPY, PRINT = "bench_within_cold", "bench_numpy", "bench_print"
PRINTED = 1000
"""Numbers in the longest tensor that is printed in full, of 4 bytes each."""
FASTER = 1.2
"""Rate of copies as a multiple of that of other sizes, from which sizes are worth advice."""
BYTES, RATE, TIME = Axis("Size", "B"), Axis("Bandwidth", "B/s"), Axis("Time", "s")
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
_THROUGH_HOST = "between {} through the host", "between them, through the host"
KINDS = {
    "to-device": Kind(_TO, _PAGEABLE, "from pageable memory to {}", "to it, pageable"),
    "to-host": Kind(_FROM, _PAGEABLE, "from {} to pageable memory", "from it, pageable"),
    "to-device-pinned": Kind(_TO, _PINNED, "from pinned memory to {}", "to it, pinned"),
    "to-host-pinned": Kind(_FROM, _PINNED, "from {} to pinned memory", "from it, pinned"),
    "between": Kind(_BETWEEN, {"way": "direct"}, "between {}", "between them"),
    "between-through-host": Kind(_BETWEEN, {"way": "through_host"}, *_THROUGH_HOST),
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


def _copies(cases: Cases) -> Iterator[Finding]:
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
            yield ask(name, question, cases.no_accelerator, KINDS[name].function)
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
    size = times.largest
    if size < LARGE:
        raise NotMeasuredError("no copy was larger than caches are")
    with suppress(NotMeasuredError):
        return fit(times).carries(kind.curve(cases, device, "bytes")), behind(times)
    return kind.curve(cases, device, "byte_rate").at(size), times.cases[size]


def _bandwidth(cases: Cases, kind: Kind, device: str) -> Finding:
    where, times = kind.name(cases, device), kind.curve(cases, device)
    line = fit(times)
    speed = line.carries(kind.curve(cases, device, "bytes"))
    return answered(
        f"{VALUE} for copies {where}",
        behind(times),
        speed,
        RATE.unit,
        f"Join copies below {_bytes(estimate_of(line.half).value)}.",
        f"{peaks.of_copy(cases.run, device, kind.function, speed)}; a latency of "
        f"{text(line.latency, TIME.unit)}; half of that bandwidth at {text(line.half, BYTES.unit)}",
    )


def _rate(cases: Cases, kind: Kind, device: str) -> Finding:
    times, speeds = kind.curve(cases, device), kind.curve(cases, device, "byte_rate")
    small, large, where = times.smallest, times.largest, kind.name(cases, device)
    tiny = f"; {text(times.at(small), TIME.unit)} for {_bytes(small)}" if small < large else ""
    return answered(
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


def _non_blocking(cases: Cases) -> Finding:
    device = cases.accelerator()
    waited, unwaited = (
        cases.curve("size", "part_enqueue", function=TO_DEVICE, device=device, memory=memory)
        for memory in ("pinned", "non_blocking")
    )
    size = (waited / unwaited).largest
    return at(unwaited, size, TIME.unit, f"for launching a non_blocking copy of {_bytes(size)}")


def _both_ways(cases: Cases) -> Finding:
    where = {"function": AT_ONCE["both-ways"].function, "device": cases.accelerator()}
    proved, at_once, in_turn = cases.proof("size", **where)
    size = proved.largest
    words = f"as fast both at once as strictly in turn, {_bytes(size)} each way"
    return replace(at(in_turn / at_once, size, RATIO, words), cases=proved.cases[size])


def _all_at_once(cases: Cases, name: str, group: str) -> Finding:
    first, count = group.partition("+")[0], ranks_of(group)
    alone = cases.curve("size", function=ALONE[name], device=first, memory="non_blocking")
    ratio = alone / AT_ONCE[name].curve(cases, group)
    size = ratio.largest
    return at(ratio, size, "1", f"of {count} times the rate of one copy alone, {_bytes(size)} each")


def _cold_copy(cases: Cases, device: str) -> Finding:
    return longer(_cold(cases, device), _bytes)


def _to_numpy(cases: Cases, device: str) -> Finding:
    times = cases.curve("size", function=NUMPY, device=device)
    size, shared = times.largest, ", which shares its memory" if device == "cpu" else ""
    return at(times, size, TIME.unit, f"for a NumPy array of {_bytes(size)}{shared}")


def _printing(cases: Cases, device: str) -> Finding:
    times = cases.curve("size", function=PRINT, device=device)
    return at(times, 4.0 * PRINTED, TIME.unit, f"for printing {PRINTED:,} numbers")


def _copy_plots(cases: Cases) -> Iterator[Plot]:
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
    yield cold_plot("copy", BYTES, _cold, cases, devices)


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
    return Plot(name, title, "curve", BYTES, RATE, lines, lines=bounds)


def _cold(cases: Cases, device: str) -> Curve:
    """Return how many times as long a copy takes with cold caches, by size."""
    return cases.curve("size", function=COLD, device=device) / KINDS["within"].curve(cases, device)


def _bytes(size: float) -> str:
    return format_value(size, BYTES.unit)


CREATE, DETOUR = "bench_create", "bench_create_then_move"
MOVE, EMPTY, STAY = "bench_move", "bench_empty_then_copy", "bench_stay"
DEARER = 1.1
"""Time of drawing numbers as a multiple of that of writing equal ones, above which it is advice."""
MADE = {"randn": ("random numbers", "draw"), "full": ("equal numbers", "write")}
"""What is created, and what creating it is called, by the parameter ``values``."""
READY = {EMPTY: "empty_like and copy_", MOVE: "to", STAY: "to, on the device already"}
NUMBERS = Axis("n")


def _placement(cases: Cases) -> Iterator[Finding]:
    """Answer for random numbers first, and for an accelerator before the CPU."""
    for values in [values for values in MADE if values in cases.values("values")] or ["randn"]:
        what, doing = MADE[values]
        question = f"What does it cost to {doing} {what} on the CPU and move them?"
        yield ask(f"detour-{values}", question, _detour, cases, values)
        for device in cases.devices():
            where = cases.the(device)
            question = f"How long does it take to {doing} {what} on {where}?"
            yield ask(f"create-{values}-{device}", question, _create, cases, device, values)
    yield ask("move", "Is a ready tensor moved faster by a copy into an empty one?", _move, cases)
    stay = "stay", "What does moving a tensor of {} to itself cost?", _stay
    yield from ask_on(cases, cases.devices(), stay)


def _detour(cases: Cases, values: str) -> Finding:
    device, (what, doing) = cases.accelerator(), MADE[values]
    there, moved = (_created(cases, function, device, values) for function in (CREATE, DETOUR))
    ratio = moved / there
    n = ratio.largest
    words = f"as long as to {doing} {size(n)} {what} on {cases.the(device)}"
    rule = "Create tensors with device=." if is_above(ratio.at(n)) else ""
    return at(ratio, n, RATIO, words, rule)


def _create(cases: Cases, device: str, values: str) -> Finding:
    time, (what, doing) = _created(cases, CREATE, device, values), MADE[values]
    n, rule = time.largest, ""
    if values == "randn" and "full" in cases.values("values"):
        with suppress(NotMeasuredError):
            dearer = time / _created(cases, CREATE, device, "full")
            if is_above(dearer.at(n), DEARER):
                rule = "Do not draw random numbers that will be overwritten."
    return at(time, n, "s", f"to {doing} {size(n)} {what} on {cases.the(device)}", rule)


def _move(cases: Cases) -> Finding:
    device = cases.accelerator()
    ratio = _ready(cases, EMPTY, device) / _ready(cases, MOVE, device)
    return largest(ratio, RATIO, f"as long by empty_like and copy_ as by to, {SIZE} numbers")


def _stay(cases: Cases, device: str) -> Finding:
    """Give the time of a move that copies nothing, as the thread sees it."""
    what = "seconds" if is_cpu(device) else "part_enqueue"  # what follows is waiting for nothing
    time = _ready(cases, STAY, device, what)
    n = (time / _ready(cases, EMPTY, device)).largest
    return at(time, n, "s", f"for {size(n)} numbers, of which none is copied")


def _placement_plots(cases: Cases) -> Iterator[Plot]:
    """Draw what creating and moving take by size, the detour beside the direct way."""
    hows = ((DETOUR, "on the CPU, then moved to {}"), (CREATE, "on {}"))
    for values, (what, doing) in MADE.items():
        asked = (
            (how.format(cases.the(device)), cases, function, device, values)
            for device, (function, how) in product(cases.devices(), hows)
        )
        title, created = f"Time to {doing} {what}", lines(_created, asked)
        yield Plot(f"create-{values}", title, "curve", NUMBERS, TIME, created)
    title, ready = "Moving a tensor that is ready", lines(_ready, ways_on_devices(cases, READY))
    yield Plot("move", title, "curve", NUMBERS, TIME, ready)


def _created(cases: Cases, function: str, device: str, values: str) -> Curve:
    return cases.curve("n", function=function, device=device, values=values)


def _ready(cases: Cases, function: str, device: str, what: str = "seconds") -> Curve:
    return cases.curve("n", what, function=function, device=device)


READ = {
    "bench_read_state_dict": "tensor by tensor",
    "bench_read_flat": "joined on the device, in one copy",
}
WRITE = {
    "bench_write_rebuild": "building the model anew, loading, moving it",
    "bench_write_rebuild_on_meta": "building it without memory, putting copies in",
    "bench_write_copy": "in place with copy_",
    "bench_write_copy_pinned": "in place with copy_ from pinned memory",
    "bench_write_load": "in place with load_state_dict",
    "bench_write_load_pinned": "in place with load_state_dict from pinned memory",
}
"""Ways to read and to write all parameters; the first is what is done without thinking."""
READ_PART = {"bench_read_scalar": "a single number", "bench_read_tensor": "the weights of a layer"}
WRITE_PART = {"bench_write_fill": "one value into all, with fill_"}


def _parameters(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    for device in cases.devices():
        for verb, done, ways in (("read", "read", READ), ("write", "written", WRITE)):
            question = f"How are all parameters best {done} on {cases.the(device)}?"
            yield ask(f"{verb}-{device}", question, _best, cases, device, ways, verb)
    yield ask("move", "What does the round trip of a model take?", _round_trip, cases)


def _round_trip(cases: Cases) -> Finding:
    time = cases.curve("parameters", function=MOVE, device=cases.accelerator())
    return largest(time, "s", f"for the round trip of {SIZE} parameters")


def _parameter_plots(cases: Cases) -> Iterator[Plot]:
    """Draw every way to read and to write, first for the size that the answers are about."""
    plain = next(iter(READ))
    counts = (int(count) for count in cases.values("parameters"))
    for count in sorted(counts, key=lambda n: (not cases.names(function=plain, parameters=n), -n)):
        for verb, ways in (("Reading", READ | READ_PART), ("Writing", WRITE | WRITE_PART)):
            shown = (
                (cases.title(device), curve.point(count, ways[name]))
                for device in cases.devices()
                for name, curve in _times(cases, device, ways, count).items()
            )
            title, name = f"{verb} a model of {size(count)} parameters", f"{verb.lower()}-{count}"
            yield Plot(name, title, "dots", Axis("way"), TIME, dots(shown))


def _times(cases: Cases, device: str, ways: Mapping[str, str], count: float) -> dict[str, Curve]:
    """Return the times of the ways that were measured for a model of this size."""
    where: dict[str, Any] = {"device": device, "parameters": count}
    measured = [name for name in ways if cases.names(function=name, **where)]
    return {name: cases.curve("parameters", function=name, **where) for name in measured}


def _best(cases: Cases, device: str, ways: Mapping[str, str], verb: str) -> Finding:
    """Compare the fastest way with the plain one, on the largest model that had both."""
    plain = next(iter(ways))
    counts = cases.curve("parameters", function=plain, device=device).sizes
    compared = {count: _times(cases, device, ways, count) for count in counts}
    several = [count for count, times in compared.items() if len(times) > 1]
    if not several:
        raise NotMeasuredError("a single way was measured")
    count = max(several)
    times = compared[count]
    best = min(times, key=lambda name: times[name].point(count).y.value)
    rule = f"{capital(verb)} them {ways[best]}."
    if best != plain and not is_above((times[plain] / times[best]).at(count)):
        rule = f"{capital(verb)} them {ways[plain]}: nothing was measurably faster."
    words = f"{VALUE} to {verb} {size(count)} parameters, {ways[best]}"
    names = behind(times[best], times[plain])
    return answered(words, names, times[best].at(count), "s", rule)


RULES = {
    "parameters": (_parameters, _parameter_plots),
    "placement": (_placement, _placement_plots),
    "copies": (_copies, _copy_plots),
}
