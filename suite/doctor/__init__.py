# SPDX-License-Identifier: MIT
"""What is there, what is wrong with it, and what mends it.

`there` looks without torch; `offer` asks torch; `unusable` says what keeps torch from an
accelerator, `wrong` what disturbs a measurement, by the rules about `devices` and `hosts`; `page`
tells it all on a terminal.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from suite.checks.rule import Fault, conclusion
from suite.doctor.there import There, add_torch_facts, look_around
from suite.doctor.torch_offer import START_LOCALLY, Asking, Offer, ask_torch
from suite.doctor.unusable import install, torch_missing, unusable_accelerators
from suite.doctor.wrong import left_out, troubles
from suite.machine.limits import ROOT
from suite.stored.run import Conclusion

__all__ = [
    "START_LOCALLY",
    "Examination",
    "Offer",
    "ask_torch",
    "examine",
    "glance",
    "judge",
    "left_out",
    "unusable_accelerators",
]


class Examination(Struct, kw_only=True):
    """Everything that the doctor has to say."""

    there: There
    troubles: list[Conclusion]

    @property
    def unusable(self) -> bool:
        """Whether torch or an accelerator that is there cannot be used."""
        return any(trouble.severity == "error" for trouble in self.troubles)


def examine(
    results: Path, root: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> Examination:
    """Look at everything, and say what is wrong with it, what keeps from measuring first.

    results : where results would be written
    root : the folder that `/dev`, `/proc` and `/sys` lie in
    """
    asking = Asking()  # torch takes a second, in which the rest is done
    there = look_around(results, root, environ)
    return judge(there, asking.answer(), root, environ)


def judge(
    there: There, offer: Offer, root: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> Examination:
    """Say what is wrong with what is there and with what torch offers; see `examine`."""
    there.torch = offer
    add_torch_facts(there.accelerators, offer)
    unusable = unusable_accelerators(root, environ, offer)
    if offer.version is None and not unusable:
        reason = f"torch cannot be imported ({offer.builds['error']})"
        fault = Fault(reason, advice=install("this machine"))
        unusable = [conclusion(torch_missing, "error", fault)]
    return Examination(there=there, troubles=[*unusable, *troubles(there)])


def glance(
    results: Path, devices: list[str], root: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> list[Conclusion]:
    """Say what would disturb a run, without torch.

    devices : names of those that it measures; nothing is said of accelerators if they are not
        among them
    """
    there = look_around(results, root, environ)
    if devices == ["cpu"]:
        there.accelerators.clear()
    return [trouble for trouble in troubles(there) if trouble.code != "no-accelerator"]
