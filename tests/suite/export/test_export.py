# SPDX-License-Identifier: MIT
"""`frobench export`: each format as its consumer documents it, with estimates and intervals."""

import json
import re
from pathlib import Path

import pytest

from frobench.suite.export import FORMATS
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored import store
from frobench.suite.stored.types import Estimate, Run
from tests.instruments.processes.project_files import EXAMPLE_RUN
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import factory

NANO = 1e9


@pytest.fixture(scope="module")
def run() -> Run:
    return store.read(EXAMPLE_RUN)


@pytest.fixture(scope="module")
def expected(run: Run) -> dict[str, Estimate]:
    """Return the median over launches of each case, with its interval."""
    return {case.fullname: estimate(case_medians(case)) for case in run.benchmarks}


def test_github_action_benchmark_reads_a_list_of_name_unit_and_value(
    expected: dict[str, Estimate], tmp_path: Path
) -> None:
    """With `tool: customSmallerIsBetter` it parses a JSON list of entries.

    Each needs `name`, `unit` (texts) and `value` (a number); `range` and `extra` are optional
    texts, shown as they are. Source: README.md, "Using GitHub Action Benchmark with custom
    benchmarks", and `BenchmarkResult` in src/extract.ts, of
    https://github.com/benchmark-action/github-action-benchmark.
    """
    shown = frobench("export", EXAMPLE_RUN, "--github-action-benchmark", folder=tmp_path)
    assert shown.returncode == 0
    entries = json.loads(shown.stdout)
    for entry in entries:
        assert entry.keys() <= {"name", "unit", "value", "range", "extra"}
        assert {type(entry[key]) for key in ("name", "unit", "range", "extra")} == {str}
        assert type(entry["value"]) is float
    assert {entry["unit"] for entry in entries} == {"ns"}
    values = {entry["name"]: entry["value"] for entry in entries}
    known = {name: one.value * NANO for name, one in expected.items()}
    assert values == pytest.approx(known, abs=1e-3)
    first = expected[entries[0]["name"]]
    ends = [float(end) for end in re.findall(r"[\d.]+(?:e\+\d+)?", entries[0]["range"])[1:]]
    assert ends == pytest.approx([_end(first.low), _end(first.high)], 1e-5)


def test_bencher_reads_benchmark_measure_value_and_both_ends(
    run: Run, expected: dict[str, Estimate]
) -> None:
    """Bencher Metric Format: an object of benchmarks, each an object of measures.

    A measure has a number `value` and may have the numbers `lower_value` and `upper_value`; the
    built-in measure `latency` is in nanoseconds; a benchmark's name has at most 1,024 characters.
    Source: https://bencher.dev/docs/reference/bencher-metric-format and the JSON Schema
    https://bencher.dev/bmf.json.
    """
    found = json.loads(FORMATS["bencher"](run))
    assert found.keys() == expected.keys()
    for name, measures in found.items():
        assert 0 < len(name) <= 1024
        (metric,) = measures.values()
        assert measures.keys() == {"latency"}
        known = expected[name]
        ends = {"lower_value": _end(known.low), "upper_value": _end(known.high)}
        assert metric == pytest.approx({"value": _end(known.value)} | ends, abs=1e-3)


LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[n"\\])*"'
SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)"
    rf"\{{(?P<labels>{LABEL}(?:,{LABEL})*)\}} "
    r"(?P<value>[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?)"
)
DESCRIPTOR = re.compile(r"# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)")


def test_openmetrics_has_gauges_in_families_and_ends_with_eof(
    run: Run, expected: dict[str, Estimate]
) -> None:
    """The text follows the grammar, and the rules for families, units and gauges.

    A family's descriptors come first, in the order TYPE, UNIT, HELP, and its samples follow without
    another's between; a unit is the suffix of the name; a gauge's samples have the family's name;
    the last line is `# EOF`. Source: OpenMetrics 1.0, "Text format",
    https://prometheus.io/docs/specs/om/open_metrics_spec/.
    """
    families = _families(FORMATS["openmetrics"](run))
    assert list(families) == [
        "frobench_case_seconds",
        "frobench_case_low_seconds",
        "frobench_case_high_seconds",
        "frobench_case_launches",
        "frobench_run_timestamp_seconds",
    ]
    for name, field in (("", "value"), ("_low", "low"), ("_high", "high")):
        values = families[f"frobench_case{name}_seconds"]
        assert values == {case: getattr(one, field) for case, one in expected.items()}
    assert set(families["frobench_case_launches"].values()) == {7}


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


def _end(seconds: float | None) -> float:
    assert seconds is not None
    return seconds * NANO


def _families(text: str) -> dict[str, dict[str, float]]:
    """Return the values by family and case, each family's together below its descriptors."""
    *lines, last = text.splitlines()
    assert last == "# EOF"
    families: dict[str, dict[str, float]] = {}
    for line in lines:
        if found := DESCRIPTOR.fullmatch(line):
            assert found[1] != "TYPE" or found[3] == "gauge"
            assert not families.setdefault(found[2], {}), "descriptors come before samples"
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample is not None, line
        name, values = [*families.items()][-1]
        assert sample["name"] == name, "families are not interleaved"
        case = re.search(r'case="((?:[^"\\]|\\.)*)"', sample["labels"])
        values[case[1] if case else ""] = float(sample["value"])
    return families
