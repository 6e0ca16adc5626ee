# SPDX-License-Identifier: MIT
"""`frobench doctor` shows this machine, what is wrong with it, and what mends it.

It takes a second or two and measures nothing. It exits with 3 if PyTorch or an accelerator that is
there cannot be used, else with 0.

`frobench run` begins with the same checks but those of PyTorch, which it imports later. It prints
what they find and stores that with the run, in `frobench.troubles`. Where an accelerator cannot be
used, it refuses, unless `--devices cpu` leaves it out.

`frobench doctor --json` is for programs: `there.host`, `there.accelerators`, `there.torch`, and
`troubles`, each with `code`, `severity`, `message` and `advice`
([types](../suite/doctor/__init__.py)). Units are bytes, hertz, watts and degrees Celsius;
`utilization` is a fraction. What is not known is `null`, and `unknown` beside it says why. No
person and no host is named, unless PyTorch names one when it cannot be imported; other
processes are only counted.

This page is made from the rules themselves: `python -m frobench.suite.doctor > docs/doctor.md`.
"""

from frobench.suite.checks.__main__ import entry
from frobench.suite.doctor import RULES


def page() -> str:
    """Return the page in Markdown, as it is committed."""
    return "\n".join(
        [
            f"# What the doctor may say\n\n{__doc__}",
            "## What keeps PyTorch from an accelerator\n",
            *(entry(checked, "error") for checked in RULES["error"]),
            "## What disturbs a measurement\n",
            *(entry(checked, "warning") for checked in RULES["warning"]),
            *(entry(checked, "info") for checked in RULES["info"]),
        ]
    )


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - the page is what it is for
