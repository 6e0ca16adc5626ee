# SPDX-License-Identifier: MIT
"""torch.utils.benchmark: a script that times with `Timer.blocked_autorange`.

``python -m studies.peers.adapters.torch_timer OUT BODY...`` is that script.
"""

import sys
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import TYPE_CHECKING

from studies.peers.bodies import QUEUED, WAITED, Body, subject
from studies.peers.rules import mean_of_means, samples_differ, t_interval
from studies.peers.single import Timed, by_script, hand_over
from studies.peers.tool import Rules, Tool

if TYPE_CHECKING:
    from torch.utils.benchmark import Measurement as Times


def script(out: Path, names: list[str]) -> None:
    """Time bodies with the defaults."""
    import torch  # noqa: F401, PLC0415 - so that no body's time has it

    timed = []
    for name in names:
        begun = perf_counter()
        with subject(name) as body:
            seen = time(body)
            seconds = perf_counter() - begun
        calls = seen.number_per_run
        timed.append(Timed(body=name, samples=seen.times, iterations=calls, seconds=seconds))
    hand_over(out, timed)


def time(body: Body) -> "Times":
    """Time a body; where torch cannot wait for the accelerator there is, do not wait."""
    import timeit  # noqa: PLC0415 - the script alone needs it

    from torch.utils.benchmark import Timer  # noqa: PLC0415 - the script alone needs it

    try:
        return Timer("body()", globals={"body": body}).blocked_autorange()
    except RuntimeError:  # the timer waits by torch.accelerator, which not every backend has
        timer = Timer("body()", globals={"body": body}, timer=timeit.default_timer)
        return timer.blocked_autorange()


TOOL = Tool(
    name="torch.utils.benchmark",
    usage='`Timer("body()").blocked_autorange()`, with its defaults',
    distribution="torch",
    measure=by_script(__name__),
    reports=lambda processes: median(median(samples) for samples in processes),
    rules=Rules(
        replicates=False,
        number=fmean,
        least=1,
        interval=t_interval,
        estimand=mean_of_means,
        differs=samples_differ,
        interval_rule="Student's, of the mean of the `times` of one process",
        alarm_rule="Mann-Whitney at 5% on the `times` of a process each",
    ),
    devices=(QUEUED, WAITED),
    uses=4,
)

if __name__ == "__main__":
    script(Path(sys.argv[1]), sys.argv[2:])
