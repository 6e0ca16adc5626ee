# SPDX-License-Identifier: MIT
"""Model parameters: the best way to read and to write them, and what the plain way costs."""

from collections.abc import Iterator, Mapping
from typing import Any

from frobench.reports.findings.answers import Answer, ask, largest
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, dots
from frobench.reports.findings.values import SIZE, VALUE, behind, is_above, size, text
from frobench.suite.units import capital

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
MOVE = "bench_move"


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    for device in cases.devices():
        where = cases.the(device)
        for verb, done, ways in (("read", "read", READ), ("write", "written", WRITE)):
            question = f"How are all parameters best {done} on {where}?"
            yield ask(f"{verb}-{device}", question, _best, cases, device, ways, verb)
    yield ask("move", "What does the round trip of a model take?", _move, cases)


def _move(cases: Cases) -> Answer:
    time = cases.curve("parameters", function=MOVE, device=cases.accelerator())
    return largest(time, "s", f"for the round trip of {SIZE} parameters")


def plots(cases: Cases) -> Iterator[Plot]:
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
            yield Plot(name, title, "dots", Axis("way"), Axis("Time", "s"), dots(shown))


def _times(cases: Cases, device: str, ways: Mapping[str, str], count: float) -> dict[str, Curve]:
    """Return the times of the ways that were measured for a model of this size."""
    where: dict[str, Any] = {"device": device, "parameters": count}
    measured = [name for name in ways if cases.names(function=name, **where)]
    return {name: cases.curve("parameters", function=name, **where) for name in measured}


def _best(cases: Cases, device: str, ways: Mapping[str, str], verb: str) -> Answer:
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
    slower = {name: (times[name] / times[best]).at(count) for name in times if name != best}
    rate = cases.one("byte_rate", function=best, device=device, parameters=count)
    more = f"; {text(rate, 'B/s')} on {cases.the(device)}"
    if best != plain:
        more += f"; {text(slower[plain], RATIO)} as long {ways[plain]}"
    ties = [name for name, ratio in slower.items() if not is_above(ratio, 1.0)]
    if ties:
        more += f"; no measurable difference: {', '.join(ways[name] for name in ties)}"
    rule = f"{capital(verb)} them {ways[best]}."
    if plain in ties:
        rule = f"{capital(verb)} them {ways[plain]}: nothing was measurably faster."
    words = f"{VALUE} to {verb} {size(count)} parameters, {ways[best]}"
    names = behind(times[best], times[plain])
    return Answer(words, names, times[best].at(count), "s", rule, more)
