# SPDX-License-Identifier: MIT
"""Cores that are far from an accelerator, or on several memory nodes, are told of."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from msgspec.structs import replace

from frobench.suite.machine.torch_facts import accelerator
from frobench.suite.stored.types import Conclusion
from tests.instruments.devices.simulated_nvml import Gpu, install
from tests.instruments.processes.project_files import planted
from tests.suite.doctor.test_doctor import NVIDIA_H100
from tests.suite.doctor.test_doctor_troubles import host, quiet, said

NODE = {"sys/bus/pci/devices/0000:18:00.0/numa_node": "1"}
OWN_MEMORY = 8
"""The node that the memory of a GPU is itself, as beside NVIDIA's Grace."""


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the driver show a GPU of which the kernel knows the node."""
    install(monkeypatch, Gpu(name="NVIDIA H100 80GB HBM3", numa_node=OWN_MEMORY))


def about_nodes(root: Path, nodes: list[int] | None) -> list[Conclusion]:
    there = quiet(planted(root, NVIDIA_H100, NODE), cpu=replace(host().cpu, core_nodes=nodes))
    return [one for one in said(there) if one.code == "far-accelerator"]


def test_cores_of_another_node_are_a_trouble_with_its_mend(tmp_path: Path) -> None:
    [trouble] = about_nodes(tmp_path, [0])
    assert (trouble.code, trouble.severity) == ("far-accelerator", "info")
    assert trouble.message == (
        "NVIDIA H100 80GB HBM3 is attached to memory node 1, and the usable cores belong to node 0"
    )
    assert trouble.advice == "numactl --cpunodebind=1 --membind=1 frobench run"


def test_cores_of_several_nodes_are_worth_a_word(tmp_path: Path) -> None:
    [trouble] = about_nodes(tmp_path, [0, 1])
    assert (trouble.code, trouble.severity) == ("far-accelerator", "info")
    assert trouble.message.endswith("and the usable cores belong to nodes 0, 1")


@pytest.mark.parametrize("nodes", [[1], None])
def test_cores_of_the_same_node_and_of_unknown_ones_are_no_trouble(
    tmp_path: Path, nodes: list[int] | None
) -> None:
    assert about_nodes(tmp_path, nodes) == []


def test_the_node_is_the_one_that_the_card_is_on_and_not_its_own_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = planted(tmp_path, NVIDIA_H100, NODE)
    [device] = quiet(root).accelerators
    assert device.numa_node == 1
    properties = SimpleNamespace(
        uuid=Gpu().uuid.removeprefix("GPU-"), pci_domain_id=0, pci_bus_id=0x18, pci_device_id=0
    )
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    assert accelerator("cuda:0", "accelerators.0.", {}, root).numa_node == 1
    assert accelerator("cuda:0", "", {}, tmp_path / "nowhere").numa_node == OWN_MEMORY
