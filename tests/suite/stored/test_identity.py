# SPDX-License-Identifier: MIT
"""What makes two machines, and which facts of two environments stand against a verdict."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from frobench.reports.site import build
from frobench.reports.summary.model import device_names, summarise
from frobench.reports.table.launches import estimates
from frobench.suite.compare.between_run_spread import levels
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored import store
from frobench.suite.stored.differences import Difference, changed, compare_environments
from frobench.suite.stored.machine_identity import (
    device_id,
    distinctions,
    machine_id,
    memory_as_sold,
)
from frobench.suite.stored.types import Environment, Run
from tests.instruments.faults.judging import put
from tests.instruments.runs import factory

MODEL = "Intel(R) Xeon(R) Processor"
OLDER = {"brand_raw": MODEL, "count": 2, "family": 6, "stepping": 8}
SETS = {143: ["amx_bf16", "avx2", "avx512f", "sse2"], 85: ["avx2", "avx512f", "sse2"]}


def xeon(model: int, seed: int = 1, **changes: Any) -> Run:  # noqa: ANN401
    """Return a run as an older version stored it: the processor's number is in machine_info."""
    run = factory.run(seed=seed, launches=6)
    run.machine_info["cpu"] = OLDER | {"model": model, "flags": SETS[model]}
    environment = run.frobench.environment
    environment.machine = "intel-xeon-2-cores"
    environment.cpu = replace(environment.cpu, model=MODEL, **changes)
    return run


def stored(run: Run) -> Run:
    return store.decode(store.encode(run))


def device(run: Run) -> str:
    return device_id(stored(run).frobench.environment)


def machine(run: Run) -> str:
    here = stored(run).frobench.environment
    return machine_id(here.cpu, here.accelerators, here.label)


def test_an_older_file_tells_processors_of_one_name_apart_by_machine_info() -> None:
    one = stored(xeon(143)).frobench.environment
    family, *rest = distinctions(one)
    assert family == "family 6 model 143 stepping 8"
    assert rest == ["32 MiB cache", "16 GB memory", "amx_bf16 avx2 avx512f"]
    assert distinctions(_environment(1)) == ["144 GB"]
    assert device(xeon(143)) == device(xeon(143, seed=2)) != device(xeon(85))


def test_each_fact_of_a_device_makes_another_machine() -> None:
    alone = {"usable_cores": 4, "last_level_cache_bytes": 2**30, "memory_bytes": 2**35, "family": 7}
    numbers: dict[str, Any] = {"stepping": 9, "model_number": 86, "instruction_sets": "avx2"}
    others = [machine(xeon(143, **{name: value})) for name, value in alone.items()]
    others += [machine(xeon(143, family=6, **{name: value})) for name, value in numbers.items()]
    assert len({machine(xeon(143)), machine(xeon(143, family=6)), *others}) == 9


def test_a_power_limit_makes_another_machine_of_the_same_device() -> None:
    one, capped = factory.run(accelerators=1), factory.run(accelerators=1)
    capped.frobench.environment.accelerators[0].power_limit_watts = 400.0
    assert machine(one) != machine(capped)
    assert device(one) == device(capped)


USABLE = (0.4, 1.9, 23.54, 24.0, 62.6, 79.6, 138.1, 138.2, 141.0, 141.1, 176.3, 176.5, 180.0, 180.1)
SOLD = (1, 2, 24, 24, 64, 80, 144, 141, 141, 144, 192, 180, 180, 192)


def test_memory_is_counted_as_it_is_sold() -> None:
    assert tuple(memory_as_sold(usable * 2**30) for usable in USABLE) == SOLD


def test_runs_of_processors_of_one_name_are_not_compared_nor_learned_from() -> None:
    one, again, other = stored(xeon(143)), stored(xeon(143, seed=2)), stored(xeon(85))
    found = compare_runs(one, other)
    assert {each.fact for each in found.differences} == {"cpu.model_number", "cpu.instruction_sets"}
    assert {case.word for case in found.cases} == {"incomparable"}
    assert levels(one).is_like(levels(again))
    assert not levels(one).is_like(levels(other))


def test_processors_of_one_name_are_named_by_the_first_number_that_differs(tmp_path: Path) -> None:
    runs = [stored(xeon(model, seed)) for seed, model in enumerate((143, 85, 143), start=1)]
    names = device_names([summarise(run, "", estimates(run)) for run in runs])
    plain = "Intel(R) Xeon(R) Processor with 2 cores, family 6 model"
    assert names == [f"{plain} {model} stepping 8" for model in (143, 85, 143)]
    build.build([store.write(run, tmp_path) for run in runs[:2]], tmp_path / "site")
    assert len([*tmp_path.glob("site/badges/intel-xeon-2-cores-*.svg")]) == 2
    assert "2 stored runs of 2 machines" in (tmp_path / "site" / "index.html").read_text("utf-8")


def _environment(accelerators: int = 1) -> Environment:
    return factory.run(accelerators=accelerators).frobench.environment


@pytest.mark.parametrize(
    "difference",
    [
        Difference("cpu.usable_cores", 2, 1),
        Difference("cpu.governor", None, "powersave"),
        Difference("label", None, "0123456789"),
        Difference("software.flags.deterministic", base=False, new=True),
        Difference("software.variables.MKL_NUM_THREADS", None, "1"),
        Difference("accelerators.0.power_limit_watts", 700.0, 400.0),
    ],
    ids=lambda difference: difference.fact,
)
def test_what_moves_numbers_matters(difference: Difference) -> None:
    new = _environment()
    put(new, difference.fact, difference.new)
    assert compare_environments(_environment(), new) == [difference]
    assert difference.matters


def test_what_does_not_move_numbers_is_harmless() -> None:
    new = _environment()
    new.software.kernel = "6.9.0"
    new.software.packages["msgspec"] = "0.20.0"
    new.cpu.max_frequency_hz = 3.8e9
    new.accelerators[0].pcie_generation = 1  # an idle link slows down
    matter = [each.matters for each in compare_environments(_environment(), new)]
    assert matter == [False] * 4


def test_what_an_older_file_does_not_tell_is_no_difference() -> None:
    old, new = _environment(2), _environment(2)
    new.cpu.boost, new.topology = True, {"cuda:0-cuda:1": "18 NVLinks"}
    new.accelerators[0].numa_node = 1
    assert compare_environments(old, new) == []
    old.cpu.boost, old.topology = False, {"cuda:0-cuda:1": "one PCIe switch"}
    found = [each.fact for each in compare_environments(old, new)]
    assert found == ["cpu.boost", "topology.cuda:0-cuda:1"]
    assert old.cpu.huge_pages is new.cpu.huge_pages is UNSET
    old.cpu.boost, old.cpu.huge_pages, new.cpu.huge_pages = True, None, "madvise"
    assert compare_environments(old, new)[0].fact == "cpu.huge_pages"


def test_a_launch_is_held_against_what_the_run_began_with() -> None:
    found = _environment()
    found.cpu.governor = "powersave"
    found.accelerators[0].power_limit_watts = 400.0
    found.accelerators[0].pcie_generation = 1
    found.software.kernel = "6.9.0"
    assert changed(_environment(), found) == {
        "accelerators.0.power_limit_watts": 400.0,
        "cpu.governor": "powersave",
        "software.kernel": "6.9.0",
    }
    assert changed(_environment(), _environment()) == {}
    other = Difference("accelerators", "none", "NVIDIA H200, NVIDIA H200")
    torchs = Difference("software.torch_build.cuda", None, "13.0")
    assert compare_environments(_environment(0), _environment(2)) == [other, torchs]


def test_what_follows_from_another_processor_or_torch_is_left_out() -> None:
    new, bare = _environment(), _environment()
    for name, value in {"cpu.model": "A", "cpu.logical_cores": 64, "cpu.usable_cores": 3}.items():
        put(new, name, value)
    new.software.torch = new.software.packages["torch"] = "2.14.0"
    found = [each.fact for each in compare_environments(_environment(), new)]
    assert found == ["cpu.model", "cpu.usable_cores", "software.torch"]
    bare.software.torch = bare.software.threads = None
    bare.software.flags, bare.software.python = {}, "3.12.0"
    found = [each.fact for each in compare_environments(bare, _environment())]
    assert found == ["software.python"]
