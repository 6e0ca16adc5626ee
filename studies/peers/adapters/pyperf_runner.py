# SPDX-License-Identifier: MIT
"""pyperf: a script that hands a body to `Runner.bench_func`, which times it in fresh processes.

``python -m studies.peers.adapters.pyperf_runner --body NAME -o OUT`` is that script.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

from studies.peers.bodies import DEVICE, QUEUED, WAITED, subject
from studies.peers.rules import mean_of_means, student, t_interval
from studies.peers.tool import FOLDER, Measurement, Order, Process, Rules, Tool, run
from studies.peers.waits import Recorded, written_down

INHERITED = (DEVICE, FOLDER, "OMP_NUM_THREADS", "SIM_SPEC")
"""Variables that pyperf must be told to pass on."""


def script() -> None:
    """Time a body with the defaults, or as the command line says."""
    import pyperf  # noqa: PLC0415 - the script alone needs it

    def pass_on(command: list[str], arguments: Any) -> None:  # noqa: ANN401 - argparse's
        command += ["--body", arguments.body]

    runner = pyperf.Runner(program_args=("-m", __spec__.name), add_cmdline_args=pass_on)
    runner.argparser.add_argument("--body")
    name = runner.parse_args().body
    with subject(name) as body:
        runner.bench_func(name, body)


def measure(order: Order) -> list[Measurement]:
    """Run the script for each body."""
    return [_one(order, name) for name in order.bodies]


def _one(order: Order, name: str) -> Measurement:
    out = order.folder / f"{name}.json"
    wall, _ = run(
        *("-m", __name__, "--body", name, "-o", out, "--quiet"),
        *("--processes", order.processes, f"--inherit-environ={','.join(INHERITED)}"),
        order=order,
        environment={DEVICE: order.device},
    )
    benchmark = json.loads(out.read_bytes())
    common = benchmark["metadata"] | benchmark["benchmarks"][0].get("metadata", {})
    runs = [
        written | {"metadata": common | written["metadata"]}
        for written in benchmark["benchmarks"][0]["runs"]
    ]
    processes = timed_processes(runs, written_down(order.folder, name))
    beyond = wall - sum(process.alone for process in processes)
    return Measurement(body=name, processes=processes, alone=beyond, shared=beyond)


def timed_processes(
    runs: Sequence[dict[str, Any]], recorded: Sequence[Recorded] = ()
) -> list[Process]:
    """Return the processes that have values; a process lasts from the end of the one before.

    Parameters
    ----------
    runs
        As pyperf writes them, the calibration first.
    recorded
        What a wait recorded in each of them.
    """
    ends = [datetime.fromisoformat(each["metadata"]["date"]).timestamp() for each in runs]
    processes = []
    for index, each in enumerate(runs):
        if "values" not in each:
            continue
        seconds = ends[index] - ends[index - 1]
        process = Process(samples=each["values"], alone=seconds, shared=seconds)
        if recorded:
            recorded[index].note(process, each["metadata"]["loops"])
        processes.append(process)
    return processes


def _differs(base: Measurement, new: Measurement) -> bool:
    before, after = ([value for each in side.samples() for value in each] for side in (base, new))
    return student(before, after)


TOOL = Tool(
    name="pyperf",
    usage="`Runner().bench_func(name, body)`, with its defaults: 20 processes",
    distribution="pyperf",
    measure=measure,
    reports=mean_of_means,
    rules=Rules(
        replicates=True,
        number=fmean,
        least=2,
        interval=t_interval,
        estimand=mean_of_means,
        differs=_differs,
        interval_rule="Student's, of the mean of the means of processes",
        alarm_rule="its `compare_to`: Student's test at 5% on all values of 20 processes each",
    ),
    devices=(QUEUED, WAITED),
    processes=20,
    costly=True,
)

if __name__ == "__main__":
    script()
