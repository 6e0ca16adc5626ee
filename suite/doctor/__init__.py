# SPDX-License-Identifier: MIT
"""What is there, what is wrong with it, and what mends it.

`examined` looks without torch, `torch_offer` asks torch, and `rules` says what is wrong. A rule
with a parameter `device` is applied to each accelerator; one with `vendor` to each vendor whose
accelerators are there, where torch offers none.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from frobench.suite.checks import rule
from frobench.suite.checks.rule import Fault, Rule, conclusion, parameters
from frobench.suite.doctor import rules
from frobench.suite.doctor.examined import ExaminedMachine, examine_without_torch
from frobench.suite.doctor.rules import REFUSED, Barred
from frobench.suite.doctor.torch_offer import START_LOCALLY, Asking, Offer, ask_torch
from frobench.suite.machine.host import ROOT, installed
from frobench.suite.machine.vendors import VENDORS, shown
from frobench.suite.stored.types import Conclusion, Severity

__all__ = ["REFUSED", "START_LOCALLY", "Offer", "ask_torch"]

ALL = rule.rules(rules).values()
LOST: list[Rule] = [rules.device_lost, rules.build_lacks_device]
"""What keeps one accelerator from use: a warning where another can be used."""
ERRORS = [one for one in ALL if one in LOST or "barred" in parameters(one)]
INFOS: list[Rule] = [rules.unloaded_driver, rules.no_accelerator, rules.far_accelerator]
WARNINGS = [one for one in ALL if one not in ERRORS + INFOS]
RULES: dict[Severity, list[Rule]] = {"error": ERRORS, "warning": WARNINGS, "info": INFOS}


class Examination(Struct, kw_only=True):
    """Everything that the doctor has to say."""

    there: ExaminedMachine
    troubles: list[Conclusion]

    @property
    def unusable(self) -> bool:
        """Whether torch or an accelerator that is there cannot be used."""
        return any(trouble.severity == "error" for trouble in self.troubles)


def examine(results: Path) -> Examination:
    """Look at everything; return what is wrong with it, first what prevents measuring.

    results : where results would be written
    """
    asking = Asking()  # torch takes a second, in which the rest is done
    there = examine_without_torch(results)
    return judge(there, asking.answer())


def judge(
    there: ExaminedMachine, offer: Offer, root: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> Examination:
    """Say what is wrong with what is there and with what torch offers.

    root : the folder that `/dev`, `/proc` and `/sys` lie in
    """
    there.torch = offer
    barred = None if offer.devices else Barred(offer, shown(root), root, environ)
    return Examination(there=there, troubles=troubles(there, barred))


def glance(
    results: Path, names: list[str], root: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> list[Conclusion]:
    """Say without torch what would disturb a run on the named devices."""
    there = examine_without_torch(results, root, environ)
    if names == ["cpu"]:
        there.accelerators.clear()
    return [trouble for trouble in troubles(there) if trouble.code != "no-accelerator"]


def unusable_accelerators(
    root: Path = ROOT, environ: Mapping[str, str] = os.environ, offer: Offer | None = None
) -> list[Conclusion]:
    """Say what keeps torch from accelerators that the system shows; nothing if torch offers one.

    offer : `None` asks torch, but only where an accelerator or a package with a backend is there
    """
    gpus = shown(root)
    if offer is None and not (gpus or installed()):
        return []
    offer = offer or ask_torch()
    return [] if offer.devices else troubles(None, Barred(offer, gpus, root, environ))


def troubles(there: ExaminedMachine | None, barred: Barred | None = None) -> list[Conclusion]:
    """Apply every rule that asks for what was examined."""
    found = []
    for severity, of_severity in RULES.items():
        for one in of_severity:
            spare = one in LOST and there is not None and there.any_is_usable
            faults = _faults(one, there, barred)
            found += [conclusion(one, "warning" if spare else severity, fault) for fault in faults]
    return found


def left_out(refusals: Mapping[str, str]) -> list[Conclusion]:
    """Say of devices that a run leaves them out, since they cannot compute, and why not."""
    faults = (Fault(f"{name} left out: {why}", advice=REFUSED) for name, why in refusals.items())
    return [conclusion(rules.unused_accelerator, "warning", fault) for fault in faults]


def _faults(one: Rule, there: ExaminedMachine | None, barred: Barred | None) -> Iterator[Fault]:
    """Apply a rule, if what it asks for was examined; equal findings of devices become one."""
    examined: dict[str, Any] = {"there": there, "barred": barred}
    given = {name: examined[name] for name in parameters(one) & examined.keys()}
    if None in given.values():
        return
    if "device" in parameters(one):
        alike = defaultdict[tuple[str, str, str], list[int | None]](list)
        for device in there.accelerators if there else ():
            for message, mend in one(device, **given):
                alike[device.name, message, mend].append(device.index)
        for (name, message, mend), which in alike.items():
            numbers = ",".join(str(number) for number in which if number is not None)
            called = f"{name} ({numbers})" if numbers else name
            many = f"each of {len(which)}x {called}" if len(which) > 1 else called
            yield Fault(f"{many} {message}", advice=mend.format(numbers or "NUMBER"))
    elif "vendor" in parameters(one):
        for vendor in VENDORS.values():
            names = Counter(gpu.name for gpu in given["barred"].gpus if gpu.vendor is vendor)
            shown = ", ".join(f"{n}x {name}" if n > 1 else name for name, n in names.items())
            for message, mend in one(vendor, **given) if names else ():
                advice = f"{mend}; or measure without it: --devices cpu"
                yield Fault(f"{shown} cannot be used: {message}", advice=advice)
    else:
        yield from (Fault(message, advice=mend) for message, mend in one(**given))
