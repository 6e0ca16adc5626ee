# SPDX-License-Identifier: MIT
"""`frobench export`: each format as its consumer documents it, with estimates and intervals."""

import json
import re
from pathlib import Path

import pytest

from frobench.suite.export import FORMATS
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import machine_id
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import keep, name_again
from tests.instruments.processes.project_files import EXAMPLE_RUN
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import factory


@pytest.fixture(scope="module")
def run() -> Run:
    return store.read(EXAMPLE_RUN)


def known(run: Run) -> dict[str, tuple[float, ...]]:
    """Return the median over launches of each case and the ends of its interval, in nanoseconds."""
    found = {case.fullname: estimate(case_medians(case)) for case in run.benchmarks}
    ends = {name: (one.value, one.low or 0.0, one.high or 0.0) for name, one in found.items()}
    return {name: tuple(round(end / 1e-9, 3) for end in three) for name, three in ends.items()}


def test_github_action_benchmark_reads_a_list_of_name_unit_and_value(
    run: Run, tmp_path: Path
) -> None:
    """With `tool: customSmallerIsBetter` it parses a JSON list of entries.

    Each needs `name`, `unit` (texts) and `value` (a number); `range` and `extra` are optional
    texts, shown as they are. Source: README.md, "Using GitHub Action Benchmark with custom
    benchmarks", and `BenchmarkResult` in src/extract.ts, of
    https://github.com/benchmark-action/github-action-benchmark.
    """
    shown = frobench("export", EXAMPLE_RUN, "--github-action-benchmark", folder=tmp_path)
    assert shown.returncode == 0
    behind = f"median over 7 launches\n{run.frobench.environment.machine}\n{run.frobench.run}"
    assert json.loads(shown.stdout) == [
        {"name": name, "unit": "ns", "value": value, "extra": behind}
        | {"range": f"95% interval {low:g} to {high:g}"}
        for name, (value, low, high) in known(run).items()
    ]


def test_bencher_reads_benchmark_measure_value_and_both_ends(run: Run) -> None:
    """Bencher Metric Format: an object of benchmarks, each an object of measures.

    A measure has a number `value` and may have the numbers `lower_value` and `upper_value`; the
    built-in measure `latency` is in nanoseconds; a benchmark's name has at most 1,024 characters.
    Source: https://bencher.dev/docs/reference/bencher-metric-format and the JSON Schema
    https://bencher.dev/bmf.json.
    """
    assert json.loads(FORMATS["bencher"](run)) == {
        name: {"latency": {"value": value, "lower_value": low, "upper_value": high}}
        for name, (value, low, high) in known(run).items()
    }


def test_openmetrics_has_gauges_in_families_and_ends_with_eof() -> None:
    """The text follows the grammar, and the rules for families, units and gauges.

    A family's descriptors come first, in the order TYPE, UNIT, HELP, and its samples follow without
    another's between; a unit is the suffix of the name; a gauge's samples have the family's name;
    the last line is `# EOF`. Source: OpenMetrics 1.0, "Text format",
    https://prometheus.io/docs/specs/om/open_metrics_spec/.
    """
    run = factory.run(launches=6)
    case = run.benchmarks[0]
    keep(run, lambda other: other is case)
    name_again(run, case, word='a "\\')
    median, here = estimate(case_medians(case)), run.frobench.environment
    identity = f'machine_id="{machine_id(here.cpu, [])}"'
    shown = case.fullname.replace("\\", r"\\").replace('"', r"\"")
    labels = f'case="{shown}",exercise="matmul",device="cpu",machine="{here.machine}",{identity}'
    made = f'run="{run.frobench.run}",machine="{here.machine}",profile="standard",torch="2.13.0"'
    families = (
        ("case_seconds", labels, median.value, "Seconds of one call, the median over launches."),
        ("case_low_seconds", labels, median.low, "Lower end of the 95% interval."),
        ("case_high_seconds", labels, median.high, "Upper end of the 95% interval."),
        ("case_launches", labels, 6, "Launches behind the median."),
        ("run_timestamp_seconds", f"{made},{identity}", 1767269080.0, "When the run was measured."),
    )
    lines = []
    for name, told, value, help_ in families:
        lines.append(f"# TYPE frobench_{name} gauge")
        lines += [f"# UNIT frobench_{name} seconds"] * name.endswith("_seconds")
        lines += [f"# HELP frobench_{name} {help_}", f"frobench_{name}{{{told}}} {value}"]
    assert FORMATS["openmetrics"](run).splitlines() == [*lines, "# EOF"]


@pytest.mark.parametrize("form", FORMATS)
def test_too_few_launches_have_no_interval_and_failed_cases_no_number(form: str) -> None:
    run = factory.run(launches=3)
    failed = run.frobench.outcomes[0]
    failed.status, failed.reason = "failed", "wrong result"
    text = FORMATS[form](run)
    assert failed.fullname not in text
    assert "lower_value" not in text
    assert "95% interval" not in re.sub(r"(Lower|Upper) end of the 95% interval\.", "", text)
    assert run.benchmarks[1].fullname in text
