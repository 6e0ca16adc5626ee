# SPDX-License-Identifier: MIT
"""Which facts of two environments stand against a regression verdict."""

from collections.abc import Callable

import pytest

from frobench.suite.stored.differences import Difference, changed, compare_environments
from frobench.suite.stored.types import Environment
from tests.instruments.runs import factory


def _environment(accelerators: int = 1) -> Environment:
    return factory.run(accelerators=accelerators).frobench.environment


def _cores(environment: Environment) -> None:
    environment.cpu.usable_cores = 1


def _governor(environment: Environment) -> None:
    environment.cpu.governor = "powersave"


def _torch(environment: Environment) -> None:
    environment.software.torch = "2.12.0"


def _flag(environment: Environment) -> None:
    environment.software.flags["deterministic"] = True


def _variable(environment: Environment) -> None:
    environment.software.variables["MKL_NUM_THREADS"] = "1"


def _power_limit(environment: Environment) -> None:
    environment.accelerators[0].power_limit_watts = 400.0


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (_cores, Difference("cpu.usable_cores", 2, 1)),
        (_governor, Difference("cpu.governor", None, "powersave")),
        (_torch, Difference("software.torch", "2.13.0", "2.12.0")),
        (_flag, Difference("software.flags.deterministic", base=False, new=True)),
        (_variable, Difference("software.variables.MKL_NUM_THREADS", None, "1")),
        (_power_limit, Difference("accelerators.0.power_limit_watts", 700.0, 400.0)),
    ],
)
def test_what_moves_numbers_matters(
    change: Callable[[Environment], None], difference: Difference
) -> None:
    new = _environment()
    change(new)
    assert compare_environments(_environment(), new) == [difference]
    assert difference.matters


def test_what_does_not_move_numbers_is_harmless() -> None:
    new = _environment()
    new.software.kernel = "6.9.0"
    new.software.packages["msgspec"] = "0.20.0"
    new.cpu.max_frequency_hz = 3.8e9
    new.accelerators[0].pcie_generation = 1  # an idle link slows down
    differences = compare_environments(_environment(), new)
    assert len(differences) == 4
    assert not any(each.matters for each in differences)


def test_other_accelerators_are_one_difference_not_a_list_of_what_follows() -> None:
    new = _environment()
    new.accelerators[0].name = "NVIDIA H100"
    new.accelerators[0].memory_bytes = 80 * 10**9
    assert compare_environments(_environment(), new) == [
        Difference("accelerators", "NVIDIA H200", "NVIDIA H100")
    ]
    assert compare_environments(_environment(1), _environment(0))[0] == Difference(
        "accelerators", "NVIDIA H200", "none"
    )


def test_what_follows_from_another_processor_or_another_torch_is_left_out() -> None:
    new = _environment()
    new.cpu.model, new.cpu.architecture, new.cpu.physical_cores = "Neoverse-V2", "aarch64", 72
    new.software.torch = new.software.packages["torch"] = "2.14.0"
    new.software.torch_build["cuda"] = "14.0"
    differences = compare_environments(_environment(), new)
    assert [each.fact for each in differences] == ["cpu.model", "software.torch"]


def test_what_an_older_file_does_not_tell_is_no_difference() -> None:
    old, new = _environment(2), _environment(2)
    new.cpu.boost, new.topology = True, {"cuda:0-cuda:1": "18 NVLinks"}
    new.accelerators[0].numa_node = 1
    assert compare_environments(old, new) == []
    old.cpu.boost, old.topology = False, {"cuda:0-cuda:1": "one PCIe switch"}
    assert [each.fact for each in compare_environments(old, new)] == [
        "cpu.boost",
        "topology.cuda:0-cuda:1",
    ]


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
