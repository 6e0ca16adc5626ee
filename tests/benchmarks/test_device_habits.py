# SPDX-License-Identifier: MIT
"""What books teach of devices holds here: fallbacks, masks, copies, and models that move."""

import os
from typing import Any

import pytest

from frobench.suite.machine.host import stored_variables
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.stage import FOLDER, play

pytestmark = pytest.mark.long

FIRST, SECOND = "sim:0", "sim:1"
MASKS = {
    "unmasked": 4,
    "1": 1,
    "0,1": 2,
    "0,2,3": 3,
    '"0,2"': 2,
    "'3'": 1,
    "": 0,
    "0,7,1": 1,
    "7": 0,
}
"""How many of four devices each mask leaves; as for CUDA, it ends where it names none."""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """Play under every mask, in forks of one process."""
    paths = os.pathsep.join([str(ROOT), str(FOLDER)])
    spec = {"devices": 4, "virtual": True}
    return play("habits", *list(MASKS)[1:], spec=spec, PYTHONPATH=paths)


@pytest.mark.parametrize("mask", MASKS)
def test_a_mask_leaves_some_devices_and_a_program_takes_these_or_the_cpu(
    seen: dict[str, Any], mask: str
) -> None:
    there = [f"sim:{index}" for index in range(MASKS[mask])]
    asked = (0, 1, 2, 3, 4, -1)
    assert seen[mask]["try"] == [
        there[index] if 0 <= index < len(there) else "cpu" for index in asked
    ]
    assert seen[mask]["all"] == (there or ["cpu"])
    assert seen[mask]["chosen"] == ["cpu", *there]
    assert seen[mask]["recorded"] == (None if mask == "unmasked" else mask)


@pytest.mark.parametrize(
    "name",
    [
        "CUDA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
        "ZE_AFFINITY_MASK",
        "ONEAPI_DEVICE_SELECTOR",
        "ASCEND_RT_VISIBLE_DEVICES",
        "ACME_VISIBLE_DEVICES",
    ],
)
@pytest.mark.parametrize("mask", ["1", "0,2,3", '"0,1"', ""])
def test_the_mask_of_every_vendor_is_recorded_as_it_was_set(name: str, mask: str) -> None:
    assert stored_variables({name: mask, f"MY_{name}_TOO": mask}) == {name: mask}


def test_to_the_device_that_a_tensor_is_on_is_no_copy_unless_one_is_asked_for(
    seen: dict[str, Any],
) -> None:
    copies = seen["unmasked"]["copies"]
    assert copies["same"] == [True] * 3  # on the CPU and on two devices
    assert copies["copied"] == [False] * 3


def test_a_tensor_that_is_sent_elsewhere_stays_and_results_lie_where_their_inputs_do(
    seen: dict[str, Any],
) -> None:
    assert seen["unmasked"]["copies"]["stays"] == [SECOND, FIRST, FIRST]


def test_what_is_made_on_a_device_is_what_is_moved_there(seen: dict[str, Any]) -> None:
    assert set(seen["unmasked"]["copies"]["made"].values()) == {True}


def test_copying_into_a_tensor_crosses_devices_and_keeps_its_place(seen: dict[str, Any]) -> None:
    copies = seen["unmasked"]["copies"]
    assert copies["copy_"] == [True, True, SECOND]  # itself, in its memory
    assert copies["value"] == [True, True]


def test_a_clone_is_a_tensor_of_its_own_on_the_same_device(seen: dict[str, Any]) -> None:
    assert seen["unmasked"]["copies"]["clone"] == [FIRST, True, True]


@pytest.mark.parametrize(
    ("mixture", "other"), [("cpu", "cpu"), (SECOND, SECOND), ("joined", SECOND)]
)
def test_operations_across_devices_raise_and_name_both(
    seen: dict[str, Any], mixture: str, other: str
) -> None:
    kind, words = seen["unmasked"]["copies"]["mixed"][mixture]
    assert kind == "RuntimeError"
    assert f"{FIRST} and {other}" in words


def test_a_single_number_of_the_cpu_may_take_part_anywhere(seen: dict[str, Any]) -> None:
    assert seen["unmasked"]["copies"]["number"]


def test_a_module_moves_itself_with_its_parameters_buffers_and_gradients(
    seen: dict[str, Any],
) -> None:
    models = seen["unmasked"]["models"]
    assert models["itself"]
    assert models["places"] == models["state"] == models["gradients"] == [FIRST]
    assert models["result"] == [FIRST, True]
    assert models["on"] == models["tensor"] == SECOND


def test_a_module_takes_no_inputs_from_elsewhere(seen: dict[str, Any]) -> None:
    kind, words = seen["unmasked"]["models"]["alien"]
    assert kind == "RuntimeError"
    assert f"{FIRST} and cpu" in words
