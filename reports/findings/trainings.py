# SPDX-License-Identifier: MIT
"""Trainings that are compared with a silent one: which there are, their names, their ratios."""

import pandas as pd

from reports.findings.select import Cases, Curve, NotMeasuredError, device_title, the_device
from suite.compare.versions import launch_ratios
from suite.stored.names import is_cpu
from suite.stored.run import Scalar

READING = "bench_reading"
NETWORKS = ("large", "medium", "small")
"""From the one whose steps outlast their launches to the one whose steps do not."""


def trained(cases: Cases, function: str) -> list[tuple[str, str, str]]:
    """Return the devices, networks and batches that a function was measured with."""
    found = [
        (str(device), str(network), f"{batch:.0f}")
        for device in cases.values("device", function=function)
        for network in cases.values("network", function=function, device=device)
        for batch in cases.values("batch", function=function, device=device, network=network)
    ]
    return sorted(found, key=lambda one: (is_cpu(one[0]), one[0].count("+"), int(one[2])))


def training(cases: Cases, device: str, network: str, batch: str) -> str:
    """Name a training in a sentence."""
    return f"the {network} network on {the_device(cases.run, device)}, in batches of {batch}"


def label(cases: Cases, device: str, network: str, batch: str) -> str:
    """Name a training in a plot."""
    return f"{device_title(cases.run, device)}: {network}, batches of {batch}"


def where(function: str, device: str, network: str, batch: str) -> dict[str, Scalar]:
    """Return the parameters of a training."""
    return {"function": function, "device": device, "network": network, "batch": int(batch)}


def beside(cases: Cases, **parameters: Scalar) -> pd.Series:
    """Return what a training takes beside its silent twin, by launch."""
    names = cases.names(**parameters)
    for case in cases.passed():
        against = case.extra_info.against
        if case.fullname in names and against is not None:
            return pd.Series(launch_ratios(case, against), dtype=float).dropna()
    raise NotMeasuredError(cases.reason(**parameters))


def by_every(cases: Cases, device: str, network: str, batch: str) -> tuple[Curve, Curve]:
    """Return, by the steps between two read-backs, a ratio of times and the time of a step.

    The ratio is that of a training to one that never reads. The silent one reads once, at its
    end: so in the difference of the two one read-back is missing, and in the silent one's time
    there is one.
    """
    here = where(READING, device, network, batch)
    ratios, steps, names = {}, {}, {}
    for every in sorted(cases.values("every", **here), key=int):
        k, chosen = float(every), {**here, "every": every}
        ratio, item = beside(cases, **chosen), cases.one("item_seconds", **chosen)
        part = k * int(batch) * item / cases.one(**chosen)  # of all the training's steps
        added = (ratio - 1) / (1 - part)  # by each read-back of k steps, to a silent training
        ratios[k], steps[k] = 1 + added / (1 - added * part), item * int(batch)
        names[k] = cases.names(**chosen)
    if not names:
        raise NotMeasuredError(cases.reason(**here))
    return Curve.of(pd.DataFrame(ratios), names), Curve.of(pd.DataFrame(steps), names)
