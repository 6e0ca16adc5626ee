# SPDX-License-Identifier: MIT
"""The benchmark printed in the guide works as it stands there."""

import json
import re
from pathlib import Path

from frobench import Work
from frobench.suite.stored import store
from tests.instruments.processes.alone import copied, run_pytest
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.warm import frobench

GUIDE = (ROOT / "docs" / "adding-a-benchmark.md").read_text("utf-8")


def test_the_printed_benchmarks_measure(tmp_path: Path) -> None:
    """The guide's Python blocks are saved under the names that the guide gives them."""
    codes = re.findall(r"^```python\n(# SPDX.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    names = re.findall(r"`benchmarks/(bench_\w+\.py)`:", GUIDE)
    folder = copied(tmp_path)
    paths = [folder / name for name in names]
    for path, code in zip(paths, codes, strict=True):
        path.write_text(code, "utf-8")
    file = tmp_path / "out.json"
    run = run_pytest(*paths, "--frobench-profile", "quick", "--benchmark-json", file)
    assert run.returncode == 0, run.stdout
    names = [case["name"] for case in json.loads(file.read_text("utf-8"))["benchmarks"]]
    assert {"bench_sort[cpu-1000]", "bench_length[cpu-1000]"} <= set(names)


def test_the_shortest_benchmark_of_the_guide_gets_the_time_of_a_call(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(def .*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bench_mine.py").write_text(code, "utf-8")

    def ended(*arguments: object) -> str:
        command = frobench(*arguments, folder=tmp_path)
        assert command.returncode == 0, command.stdout + command.stderr
        return command.stdout

    own = "--benchmarks", "mine", "--profile", "quick"
    file = ended("run", *own, "--launches", 6).splitlines()[-1]
    (case,) = store.read(tmp_path / file).benchmarks
    assert (case.extra_info.work, case.extra_info.check) == (Work(), None)
    assert ended("validate", file).endswith(": valid\n")
    assert re.search(r"\d µs", ended("show", file))
    ended("report", file)
    page = (tmp_path / "site" / Path(file).relative_to("results").with_suffix(".html")).read_text()
    assert "not checked" in page
