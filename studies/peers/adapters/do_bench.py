# SPDX-License-Identifier: MIT
"""triton's do_bench: a script that calls it; for CUDA devices only.

``python -m studies.peers.adapters.do_bench OUT BODY...`` is that script.
"""

import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from studies.peers.bodies import QUEUED, subject
from studies.peers.single import Timed, by_script, hand_over
from studies.peers.tool import Tool, missing_on_cuda

MILLISECOND = 1e-3


def script(out: Path, names: list[str]) -> None:
    """Time bodies with the defaults, each call for itself."""
    from triton.testing import do_bench  # noqa: PLC0415 - the script alone needs it

    timed = []
    for name in names:
        begun = perf_counter()
        with subject(name) as body:
            samples = [each * MILLISECOND for each in do_bench(body, return_mode="all")]
            seconds = perf_counter() - begun
        timed.append(Timed(body=name, samples=samples, iterations=1, seconds=seconds))
    hand_over(out, timed)


TOOL = Tool(
    name="triton do_bench",
    usage="`do_bench(body)`, with its defaults",
    distribution="triton",
    missing=lambda: missing_on_cuda("triton"),
    measure=by_script(__name__),
    reports=lambda processes: median(median(samples) for samples in processes),
    rules=None,
    devices=(QUEUED,),
)

if __name__ == "__main__":
    script(Path(sys.argv[1]), sys.argv[2:])
