# SPDX-License-Identifier: MIT
"""The forward pass of nn.DataParallel: what its four parts take, and what they lose."""

from dataclasses import dataclass

from reports.findings.answers import SIZE, VALUE, Answer, behind, size, text
from reports.findings.finding import Axis, Plot, Series
from reports.findings.select import Cases, Curve, NotMeasuredError, the_device
from suite.stored.names import is_cpu

FORWARD, IN_PARTS = "bench_forward", "bench_forward_parts"
PARTS = ("replicate", "scatter", "parallel_apply", "gather")
WHOLE = "whole"
TOLERANCE = 0.05
"""Parts add up to a whole if they miss it by at most this part of it."""
BATCH = f"a batch of {SIZE}"
TIME = Axis("Time", "s")


@dataclass(frozen=True)
class Setting:
    """A network on a group of devices, which is compared with one of them.

    Parameters
    ----------
    network
        Its size, in a word.
    group
        The devices' names, joined by ``+``.
    """

    network: str
    group: str

    @property
    def count(self) -> int:
        """How many devices there are."""
        return len(self.group.split("+"))

    @property
    def first(self) -> "Setting":
        """The same network on the first of the devices."""
        return Setting(self.network, self.group.partition("+")[0])

    def times(self, cases: Cases, function: str, **where: str) -> Curve:
        """Return by batch the time of one step or forward pass: a call may be several."""
        where |= {"function": function, "device": self.group, "size": self.network}
        sample = cases.curve("batch", "item_seconds", **where)
        return Curve.of(sample.table.mul(sample.sizes, axis="columns"), sample.cases)

    def one(self, cases: Cases) -> str:
        """Name the one device."""
        if is_cpu(self.group):
            return "one half"
        return f"one {the_device(cases.run, self.group.partition('+')[0]).removeprefix('the ')}"


def loss(cases: Cases, network: str, group: str) -> Answer:
    """Say what part of a forward pass is lost, and which step of nn.DataParallel loses it."""
    setting = Setting(network, group)
    parts, whole, alone = _forward(cases, setting)
    batch = _largest(alone, whole, *parts.values())
    share = alone.at(batch) / setting.count
    lost = (whole.at(batch) - share) / whole.at(batch)
    beyond = parts["parallel_apply"].at(batch) - share
    spelled = [f"{part} takes {text(parts[part].at(batch), 's')}" for part in PARTS[:2]]
    return Answer(
        f"Against an equal share of what one device takes, {VALUE} of a forward pass are lost, "
        f"with {size(batch, BATCH)}: {', '.join(spelled)}, "
        f"gather {text(parts['gather'].at(batch), 's')}, and parallel_apply "
        f"{text(beyond, 's')} more than that share.",
        behind(*(curve.on([batch]) for curve in (alone, whole, *parts.values()))),
        lost,
        "1",
        "of a forward pass lost with nn.DataParallel",
    )


def total(cases: Cases, network: str, group: str) -> Answer:
    """Hold the four parts, each measured by itself, against all of them at once."""
    parts, whole, _ = _forward(cases, Setting(network, group))
    ratio = _sum(parts) / whole
    batch = ratio.sizes[-1]
    return Answer(
        f"Each measured by itself, with a wait of its own, they make {VALUE} of the whole with "
        f"{size(batch, BATCH)}.",
        ratio.cases[batch],
        ratio.at(batch),
        "1",
        "of the whole forward pass in its parts",
    )


def stack(cases: Cases, setting: Setting) -> Plot:
    """Return the parts of a forward pass by batch, beside the whole."""
    parts, whole, _ = _forward(cases, setting)
    ratio = _sum(parts) / whole
    batches = ratio.sizes
    names = {batch: size(batch, f"{SIZE} samples") for batch in batches}
    series = [
        Series(part, tuple(parts[part].point(batch, names[batch]) for batch in batches))
        for part in PARTS
    ]
    bars = Series("all at once", tuple(whole.point(batch, names[batch]) for batch in batches))
    where = the_device(cases.run, setting.group)
    title = f"A forward pass of the {setting.network} network with nn.DataParallel on {where}"
    if abs(ratio.point(batches[-1]).y.value - 1) > TOLERANCE:  # waits count least in the largest
        title += " (the parts do not add up to the whole)"
    name = f"parts-{setting.group}-{setting.network}"
    return Plot(name, title, "stack", Axis("batch"), TIME, tuple(series), whole=bars)


def _forward(cases: Cases, setting: Setting) -> tuple[dict[str, Curve], Curve, Curve]:
    """Return the parts of a forward pass, all of them at once, and that of one device."""
    parts = {part: setting.times(cases, IN_PARTS, part=part) for part in (*PARTS, WHOLE)}
    whole = parts.pop(WHOLE)
    return parts, whole, setting.first.times(cases, FORWARD)


def _sum(parts: dict[str, Curve]) -> Curve:
    first, *others = parts.values()
    for other in others:
        first = first + other
    return first


def _largest(*curves: Curve) -> float:
    common = set.intersection(*(set(curve.sizes) for curve in curves))
    if not common:
        raise NotMeasuredError("the forward passes have no batch in common")
    return max(common)
