# SPDX-License-Identifier: MIT
"""What is there, what is wrong with it, and what mends it.

`examined` looks without torch, and says what keeps torch from an accelerator; `torch_offer` asks
torch; `rules` holds the rules about what disturbs a measurement.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from frobench.suite.checks import rule
from frobench.suite.checks.rule import Fault, Rule, conclusion
from frobench.suite.doctor import rules
from frobench.suite.doctor.examined import (
    REFUSED,
    ExaminedMachine,
    add_torch_facts,
    examine_without_torch,
    unusable_accelerators,
    unused_accelerator,
)
from frobench.suite.doctor.torch_offer import START_LOCALLY, Asking, Offer, ask_torch
from frobench.suite.machine.host import ROOT
from frobench.suite.stored.types import Conclusion, Severity

__all__ = ["REFUSED", "START_LOCALLY", "Offer", "ask_torch", "unusable_accelerators"]

ERRORS: list[Rule] = [rules.device_lost, rules.build_lacks_device]
"""What keeps an accelerator from use."""
INFOS: list[Rule] = [rules.unloaded_driver, rules.no_accelerator, rules.several_nodes]
_ALL = rule.rules(rules).values()
RULES: dict[Severity, list[Rule]] = {
    "error": ERRORS,
    "warning": [one for one in _ALL if one not in ERRORS + INFOS],
    "info": INFOS,
}
"""What may be wrong with a machine that can measure."""


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
    add_torch_facts(there.accelerators, offer)
    unusable = unusable_accelerators(root, environ, offer)
    return Examination(there=there, troubles=[*unusable, *troubles(there)])


def glance(
    results: Path, names: list[str], root: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> list[Conclusion]:
    """Say without torch what would disturb a run on the named devices."""
    there = examine_without_torch(results, root, environ)
    if names == ["cpu"]:
        there.accelerators.clear()
    return [trouble for trouble in troubles(there) if trouble.code != "no-accelerator"]


def troubles(there: ExaminedMachine) -> list[Conclusion]:
    """Apply every rule; what keeps one accelerator from use is a warning beside one that works."""
    lost: Severity = "warning" if there.any_is_usable else "error"
    return [
        conclusion(rule, lost if severity == "error" else severity, fault)
        for severity, of_severity in RULES.items()
        for rule in of_severity
        for fault in rule(there)
    ]


def left_out(refusals: Mapping[str, str]) -> list[Conclusion]:
    """Say of devices that a run leaves them out, since they cannot compute, and why not."""
    faults = (Fault(f"{name} left out: {why}", advice=REFUSED) for name, why in refusals.items())
    return [conclusion(unused_accelerator, "warning", fault) for fault in faults]
