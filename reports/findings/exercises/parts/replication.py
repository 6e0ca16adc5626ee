# SPDX-License-Identifier: MIT
"""The forward pass of nn.DataParallel: what its four parts take, and what they lose."""

from dataclasses import dataclass, replace

from frobench.reports.findings.answers import Answer, sizes_in_common
from frobench.reports.findings.finding import Axis, Plot, Series
from frobench.reports.findings.select import Cases, Curve
from frobench.reports.findings.values import SIZE, VALUE, behind, size, text
from frobench.suite.stored.differences import is_cpu

FORWARD, IN_PARTS = "bench_forward", "bench_forward_parts"
PARTS = ("replicate", "scatter", "parallel_apply", "gather")
TOLERANCE = 0.05
"""Parts add up to a whole if they miss it by at most this part of it."""
BATCH = f"a batch of {SIZE}"


@dataclass(frozen=True)
class Setting:
    """A network, called by its size, on a group of devices, which is compared with one of them."""

    cases: Cases
    network: str
    group: str

    @property
    def count(self) -> int:
        """How many devices there are."""
        return len(self.group.split("+"))

    @property
    def first(self) -> "Setting":
        """The same network on the first of the devices."""
        return replace(self, group=self.group.partition("+")[0])

    @property
    def where(self) -> str:
        """The devices in a sentence."""
        return self.cases.the(self.group)

    @property
    def one(self) -> str:
        """The one device in a sentence."""
        if is_cpu(self.group):
            return "one half"
        return f"one {self.first.where.removeprefix('the ')}"

    def times(self, function: str, **where: str) -> Curve:
        """Return by batch the time of one step or forward pass: a call may be several."""
        where |= {"function": function, "device": self.group, "size": self.network}
        return self.cases.curve("batch", "item_seconds", **where).by_size()

    def forward(self) -> tuple[dict[str, Curve], Curve, Curve]:
        """Return the parts of a forward pass, all of them at once, and that of one device."""
        parts = {part: self.times(IN_PARTS, part=part) for part in PARTS}
        return parts, self.times(IN_PARTS, part="whole"), self.first.times(FORWARD)


def loss(setting: Setting) -> Answer:
    """Say what part of a forward pass is lost, and which step of nn.DataParallel loses it."""
    parts, whole, alone = setting.forward()
    curves = (alone, whole, *parts.values())
    batch = sizes_in_common(curves, "the forward passes have no batch in common")[-1]
    share = alone.at(batch) / setting.count
    lost = (whole.at(batch) - share) / whole.at(batch)
    beyond = text(parts["parallel_apply"].at(batch) - share, "s")
    took = {part: text(curve.at(batch), "s") for part, curve in parts.items()}
    sentence = (
        f"Against an equal share of what one device takes, {VALUE} of a forward pass are lost, "
        f"with {size(batch, BATCH)}: replicate takes {took['replicate']}, scatter takes "
        f"{took['scatter']}, gather {took['gather']}, and parallel_apply {beyond} more than that "
        "share."
    )
    label = "of a forward pass lost with nn.DataParallel"
    return Answer(sentence, behind(*(curve.on([batch]) for curve in curves)), lost, "1", label)


def total(setting: Setting) -> Answer:
    """Compare the four parts, each measured by itself, with all of them at once."""
    parts, whole, _ = setting.forward()
    ratio = _sum(parts) / whole
    batch = ratio.sizes[-1]
    parts_of = f"Each measured by itself, with a wait of its own, they make {VALUE} of the whole"
    label = "of the whole forward pass in its parts"
    sentence = f"{parts_of} with {size(batch, BATCH)}."
    return Answer(sentence, ratio.cases[batch], ratio.at(batch), "1", label)


def stack(setting: Setting) -> Plot:
    """Return the parts of a forward pass by batch, beside the whole."""
    parts, whole, _ = setting.forward()
    ratio = _sum(parts) / whole

    def bars(label: str, curve: Curve) -> Series:
        named = ((batch, size(batch, f"{SIZE} samples")) for batch in ratio.sizes)
        return Series(label, tuple(curve.point(batch, name) for batch, name in named))

    shown = tuple(bars(*part) for part in parts.items())
    title = (
        f"A forward pass of the {setting.network} network with nn.DataParallel on {setting.where}"
    )
    largest = ratio.sizes[-1]  # waits count least there
    if abs(ratio.point(largest).y.value - 1) > TOLERANCE:
        title += " (the parts do not add up to the whole)"
    name, x, y = f"parts-{setting.group}-{setting.network}", Axis("batch"), Axis("Time", "s")
    return Plot(name, title, "stack", x, y, shown, whole=bars("all at once", whole))


def _sum(parts: dict[str, Curve]) -> Curve:
    first, *others = parts.values()
    for other in others:
        first = first + other
    return first
