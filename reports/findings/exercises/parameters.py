# SPDX-License-Identifier: MIT
"""Model parameters: the best way to read and to write them, and what the plain way costs."""

from collections.abc import Iterator, Mapping
from typing import Any

from reports.findings.answers import VALUE, Answer, ask, behind, capital, size, text
from reports.findings.finding import RATIO, Axis, Finding, Plot, Series
from reports.findings.select import Cases, Curve, NotMeasuredError, device_title, the_device

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
TIME = Axis("Time", "s")


def findings(cases: Cases) -> list[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    found = []
    for device in reversed(cases.devices()):
        where = the_device(cases.run, device)
        best = "How are all parameters best {} on {}?"
        found += [
            ask(f"read-{device}", best.format("read", where), best_read, cases, device),
            ask(f"write-{device}", best.format("written", where), best_write, cases, device),
        ]
    return [*found, ask("move", "What does the round trip of a model take?", move, cases)]


def best_read(cases: Cases, device: str) -> Answer:
    """Name the fastest way to read all parameters."""
    return _best(cases, device, READ, "read")


def best_write(cases: Cases, device: str) -> Answer:
    """Name the fastest way to write all parameters."""
    return _best(cases, device, WRITE, "write")


def move(cases: Cases) -> Answer:
    """Give the time of moving the largest model to the accelerator and back."""
    device = cases.accelerator()
    time = cases.curve("parameters", function=MOVE, device=device)
    rate = cases.curve("parameters", "byte_rate", function=MOVE, device=device)
    count = time.sizes[-1]
    return Answer(
        f"{VALUE} ({text(rate.at(count), 'B/s')}) for the round trip of {size(count)} parameters "
        f"to {the_device(cases.run, device)}.",
        time.cases[count],
        time.at(count),
        TIME.unit,
        "round trip",
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw every way to read and to write, first for the size that the answers are about."""
    plain = next(iter(READ))
    counts = (int(count) for count in cases.values("parameters"))
    for count in sorted(counts, key=lambda n: (not cases.names(function=plain, parameters=n), -n)):
        for verb, ways in (
            ("Reading", {**READ, **READ_PART}),
            ("Writing", {**WRITE, **WRITE_PART}),
        ):
            series = []
            for device in reversed(cases.devices()):
                times = _times(cases, device, ways, count)
                points = tuple(curve.point(count, ways[name]) for name, curve in times.items())
                series.append(Series(device_title(cases.run, device), points))
            shown = tuple(line for line in series if line.points)
            if shown:
                title = f"{verb} a model of {size(count)} parameters"
                name = f"{verb.lower()}-{count}"
                yield Plot(name, title, "dots", Axis("way"), TIME, shown)


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
    slower = times[plain] / times[best]
    rate = cases.one("byte_rate", function=best, device=device, parameters=count)
    rest = (
        f"{ways[best]}, the plain way"
        if best == plain
        else f"{ways[best]}; {text(slower.at(count), RATIO)} as long {ways[plain]}"
    )
    ties = [name for name in times if name != best and _is_tie(times[name] / times[best])]
    if ties:
        rest += f"; no measurable difference: {', '.join(ways[name] for name in ties)}"
    where = the_device(cases.run, device)
    rule = f"{capital(verb)} them {ways[best]}."
    if plain in ties:
        rule = f"{capital(verb)} them {ways[plain]}: nothing was measurably faster."
    return Answer(
        f"{VALUE} ({text(rate, 'B/s')}) to {verb} {size(count)} parameters on {where}, {rest}.",
        behind(times[best], times[plain]),
        times[best].at(count),
        TIME.unit,
        f"to {verb} {size(count)} parameters on {where}",
        rule_of_thumb=rule,
        brief=f"{VALUE} to {verb} {size(count)} parameters, {ways[best]}.",
    )


def _is_tie(ratio: Curve) -> bool:
    """Tell whether the interval of a ratio at its one size holds 1, or there is none."""
    low = ratio.point(ratio.sizes[0]).y.low
    return low is None or low <= 1
