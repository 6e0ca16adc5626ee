# SPDX-License-Identifier: MIT
"""Placement: what creating on the CPU and moving costs, and what moving a ready tensor does."""

from collections.abc import Iterator
from contextlib import suppress

from frobench.reports.findings.answers import Answer, ask, ask_on, at, largest
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, lines, ways_on_devices
from frobench.reports.findings.values import SIZE, VALUE, behind, is_above, size, smallest, text
from frobench.suite.stored.machine_identity import is_cpu

CREATE, DETOUR = "bench_create", "bench_create_then_move"
MOVE, COPY, STAY = "bench_move", "bench_empty_then_copy", "bench_stay"
DEARER = 1.1
"""Time of drawing numbers as a multiple of that of writing equal ones, above which it is advice."""
KINDS = {"randn": ("random numbers", "draw"), "full": ("equal numbers", "write")}
"""What is created, and what creating it is called, by the parameter ``values``."""
READY = {COPY: "empty_like and copy_", MOVE: "to", STAY: "to, on the device already"}
NUMBERS, TIME = Axis("n"), Axis("Time", "s")


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for random numbers first, and for an accelerator before the CPU."""
    kinds = [kind for kind in KINDS if kind in cases.values("values")] or ["randn"]
    devices = cases.devices()
    for kind in kinds:
        what, doing = KINDS[kind]
        question = f"What does it cost to {doing} {what} on the CPU and move them?"
        yield ask(f"detour-{kind}", question, _detour, cases, kind)
        for device in devices:
            where = cases.the(device)
            question = f"How long does it take to {doing} {what} on {where}?"
            yield ask(f"create-{kind}-{device}", question, _create, cases, device, kind)
    yield ask("move", "Is a ready tensor moved faster by a copy into an empty one?", _move, cases)
    stay = "stay", "What does moving a tensor of {} to itself cost?", _stay
    yield from ask_on(cases, devices, stay)


def _detour(cases: Cases, kind: str) -> Answer:
    device, (what, doing) = cases.accelerator(), KINDS[kind]
    there, moved = (_created(cases, function, device, kind) for function in (CREATE, DETOUR))
    ratio, more = moved / there, moved - there
    n = ratio.sizes[-1]
    words = f"{VALUE} as long as to {doing} {size(n)} {what} on {cases.the(device)}"
    rule = "Create tensors with device=." if is_above(ratio.at(n), 1.0) else ""
    rest = f"; {text(more.at(n), 's')} more{smallest(ratio, RATIO, f'; {VALUE} for {SIZE}')}"
    return Answer(words, behind(ratio.ends()), ratio.at(n), RATIO, rule, rest)


def _create(cases: Cases, device: str, kind: str) -> Answer:
    time, (what, doing) = _created(cases, CREATE, device, kind), KINDS[kind]
    n, rule = time.sizes[-1], ""
    if kind == "randn" and "full" in cases.values("values"):
        with suppress(NotMeasuredError):
            dearer = time / _created(cases, CREATE, device, "full")
            if is_above(dearer.at(n), DEARER):
                rule = "Do not draw random numbers that will be overwritten."
    words = f"{VALUE} to {doing} {size(n)} {what} on {cases.the(device)}"
    rest = smallest(time, "s", f"; {VALUE} for {SIZE}")
    return Answer(words, behind(time.ends()), time.at(n), "s", rule, rest)


def _move(cases: Cases) -> Answer:
    device = cases.accelerator()
    ratio = _ready(cases, COPY, device) / _ready(cases, MOVE, device)
    return largest(ratio, RATIO, f"as long by empty_like and copy_ as by to, {SIZE} numbers")


def _stay(cases: Cases, device: str) -> Answer:
    """Give the time of a move that copies nothing, as the thread sees it."""
    what = "seconds" if is_cpu(device) else "part_enqueue"  # what follows is waiting for nothing
    time = _ready(cases, STAY, device, what)
    n = (time / _ready(cases, COPY, device)).sizes[-1]
    return at(time, n, "s", f"for {size(n)} numbers, of which none is copied")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw what creating and moving take by size, the detour beside the direct way."""
    devices = cases.devices()
    for kind, (what, doing) in KINDS.items():
        created = lines(
            _created,
            (
                (how.format(cases.the(device)), cases, function, device, kind)
                for device in devices
                for function, how in ((DETOUR, "on the CPU, then moved to {}"), (CREATE, "on {}"))
            ),
        )
        yield Plot(f"create-{kind}", f"Time to {doing} {what}", "curve", NUMBERS, TIME, created)
    title, ready = "Moving a tensor that is ready", lines(_ready, ways_on_devices(cases, READY))
    yield Plot("move", title, "curve", NUMBERS, TIME, ready)


def _created(cases: Cases, function: str, device: str, kind: str) -> Curve:
    return cases.curve("n", function=function, device=device, values=kind)


def _ready(cases: Cases, function: str, device: str, what: str = "seconds") -> Curve:
    return cases.curve("n", what, function=function, device=device)
