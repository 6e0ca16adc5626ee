# SPDX-License-Identifier: MIT
"""What a score must say of made-up cards, by the command and by the page's script."""

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.options import WORKLOADS
from frobench.reports.compare import workload as workloads
from frobench.reports.findings.finding import RATIO
from frobench.reports.table.workloads import part_of, table
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Energy, Run
from tests.instruments.faults.judging import put, samples
from tests.instruments.processes.command import ROOT
from tests.instruments.runs.made_up_cards import CARD, faster, on_the_cpu, run

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


CHIP = faster(CARD, 2, 2)


def score(base: Run, new: Run, workload: str) -> dict[str, Any]:
    return workloads.score(workloads.sides(base, new), workload)


def quicker(base: Run, factors: Mapping[str, float]) -> Run:
    """Return a run of a machine that is so many times as fast in some parts."""

    def changed(case: Case) -> Case:
        part = part_of(case)
        factor = factors.get(part.name, 1.0) if part else 1.0
        data = [one and one / factor for one in case.stats.data]
        return replace(case, stats=replace(case.stats, data=data))

    return replace(base, benchmarks=[changed(case) for case in base.benchmarks])


def documented() -> dict[str, dict[str, float]]:
    """Return the weights that the methodology shows, by the titles of workloads and parts."""
    lines = (ROOT / "docs" / "methodology.md").read_text(encoding="utf-8").splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("| part |"))
    shown = [line for line in lines[at:] if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in shown)
    return {
        title: {row[0]: float(row[column]) for row in rows if row[column]}
        for column, title in enumerate(head)
        if column
    }


@pytest.mark.parametrize("move", [lambda one: one, on_the_cpu], ids=["card", "processor"])
def test_scores_weigh_parts_as_the_methodology_shows(move: Callable[[Run], Run]) -> None:
    base = move(run(CARD))
    there = {part.name: part.title for case in base.benchmarks if (part := part_of(case))}
    factors = dict(zip(there, PRIMES, strict=False))
    quick = quicker(base, factors)
    titles = [one.title.casefold() for one in table().workloads]
    assert [one.casefold() for one in documented()] == titles
    for workload, weights in zip(WORKLOADS, documented().values(), strict=True):
        used = {name: weights[title] for name, title in there.items() if title in weights}
        found = score(base, quick, workload)
        if not found["speed"]:
            assert move is on_the_cpu
            assert workload in {"decode", "data-loading"}
            continue
        logs = [weight * math.log(factors[name]) for name, weight in used.items()]
        right = math.exp(sum(logs) / sum(used.values()))
        assert found["speed"]["value"] == pytest.approx(right, rel=1e-3)


def test_the_part_that_names_a_workload_is_missing_by_name_in_the_terminal() -> None:
    new = run(CARD)
    (outcome,) = (one for one in new.frobench.outcomes if "bench_train_graph" in one.fullname)
    new.benchmarks = [one for one in new.benchmarks if one.fullname != outcome.fullname]
    outcome.status, outcome.reason = "skipped", "takes 3 s"
    found = score(run(CARD), new, "training")
    title = "Training step of a transformer, replayed"
    assert (found["speed"], found["coverage"]) == (None, pytest.approx(7 / 11))
    told = "\n".join(workloads.answers(found, ["", ""]))
    assert f'Training: not measured: "{title}" was not measured on both machines' in told
    assert f"missing in new: {title}: skipped: takes 3 s" in told


def test_the_terminal_says_the_speed_under_the_usual_workload(tmp_path: Path) -> None:
    told = printed(run(CARD), run(CHIP, "Made-up chip"), tmp_path)
    assert (
        f"Training: new has 1.975{RATIO} [1.972, 1.979] the speed of base (100% of the workload's "
        "weight) There is one specimen of each: intervals cover launches, not specimens Energy: "
        "not measured: no energy of this workload was measured on both machines weight"
    ) in told
    assert "bench_" not in told


def printed(base: Run, new: Run, folder: Path, *options: str) -> str:
    """Return what the command prints of two machines, on lines of any width."""
    paths = [folder / "base", folder / "new"]
    for path, one in zip(paths, (base, new), strict=True):
        path.write_bytes(store.encode(one))
    answer = CliRunner().invoke(main, ["compare", *map(str, paths), "--purchase", *options])
    assert answer.exit_code == 0, answer.output
    assert len(answer.stdout.splitlines()) < 50 or "--json" in options
    return " ".join(answer.stdout.split())


def test_in_the_terminal_a_doubtful_run_has_a_mark_and_no_verdict(tmp_path: Path) -> None:
    new = run(CHIP, "Made-up chip")
    put(new, "frobench.launches.*.others", 1.0)
    told = printed(run(CARD), new, tmp_path)
    doubt = "other programs used 1.0 of 2 cores"
    verdict = f"Training: not judged, new is doubtful ({doubt}); 1.975{RATIO} [1.972, 1.979]"
    assert f"{verdict} (100% of the workload's weight)" in told
    assert "the speed of base" not in told
    found = json.loads(printed(run(CARD), new, tmp_path, "--json"))
    assert found["doubts"] == {"base": "", "new": doubt}
    first, *_ = workloads.answers(found | {"coverage": 0.9999}, ["", ""])
    assert first == f"{verdict} (99% of the workload's weight)"


def test_the_terminal_says_what_is_the_host_s_and_what_power_is(tmp_path: Path) -> None:
    new = run(CARD)
    for case in new.benchmarks:  # it draws 300 W in every case
        joules: list[float | None] = [300 * median(launch) for launch in samples(case)]
        case.extra_info.energy = Energy(joules=joules, seconds=[1.0] * len(joules))
    cpu, new.frobench.environment.cpu.model = new.frobench.environment.cpu.model, "A fast one"
    small = printed(run(CARD), new, tmp_path, "--workload", "small").replace(RATIO, "x")
    for words in (
        "Small operations: two runs of one device, 1.000x [0.999, 1.001] apart (100% of the",
        f"Mostly the host's: base has {cpu}, new has A fast one Energy",
        "parts Small products 16.7% 1.000x [0.998, 1.002] 100% Small copies within",
        "axes compute bfloat16 700 TFLOP/s [699, 703] 700 TFLOP/s [699, 703] compute tfloat32",
        "overhead, mostly the host's 5.004 µs [4.991, 5.013] 5.004",
        "capacity 64 GB 64 GB power 700 W, the limit 64.34 W [64.26, 64.58], measured",
    ):
        assert words in small
    assert "Mostly" not in printed(run(CARD), new, tmp_path).replace("overhead, mostly", "")


@pytest.mark.usefixtures("without_engine")
def test_without_the_engine_the_command_says_so_once(tmp_path: Path) -> None:
    told = printed(run(CARD), run(CHIP, "Made-up chip"), tmp_path)
    assert re.search(r"Training: not measured: [^:]*quickjs-ng", told)
    assert told.count("quickjs-ng") == 1
