# SPDX-License-Identifier: MIT
"""Cases that were measured beside another version of their body, in any exercise."""

from collections.abc import Iterator

from frobench.reports.findings.finding import RATIO, Finding
from frobench.suite.compare.runs import compare_versions, launch_ratios
from frobench.suite.stored.types import Run
from frobench.suite.units import format_estimate

WORDS = {
    "same": "They are the same to half a percent",
    "faster": "It is faster",
    "slower": "It is slower",
    "unresolved": "That decides nothing",
}


def findings(run: Run, exercise: str) -> Iterator[Finding]:
    """Say of each such case how long it takes beside its other version."""
    cases = {
        case.fullname: (case, case.extra_info.against)
        for case in run.benchmarks
        if case.group == exercise and case.extra_info.against is not None
    }
    for compared in compare_versions(run).cases if cases else ():  # all are judged together
        if compared.fullname in cases and compared.word != "incomparable":
            case, against = cases[compared.fullname]
            title = case.extra_info.title.rstrip(".")
            ratio = format_estimate(compared.ratio, RATIO)
            text = f"It takes {ratio} as long. {WORDS[compared.word]}."
            yield Finding(
                f"versions-{case.name}",
                f"Is it faster than the version beside it? {title} ({case.name})",
                text,
                compared.ratio,
                RATIO,
                "time beside the other version's",
                tuple(ratio for ratio in launch_ratios(case, against) if ratio is not None),
                (case.fullname,),
                brief=text,
            )
