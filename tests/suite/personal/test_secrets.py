# SPDX-License-Identifier: MIT
"""A shared file holds no secret, wherever it was written, and messages stay readable."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from frobench.suite import privacy, publish
from frobench.suite.machine.host import is_harmless, stored_variables
from frobench.suite.stored import store
from tests.instruments.faults.judging import made
from tests.instruments.faults.secrets import SECRETS, plant
from tests.instruments.processes.warm import frobench
from tests.instruments.runs.filled import filled
from tests.suite.checks.test_checks_privacy import seeded

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_SECRETS, LEAST_PLACES = 60, 90
MESSAGES = (
    (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB"
        " of which 1.03 GiB is free. This process has 78.05 GiB memory in use."
    ),
    "Expected all tensors to be on the same device, but found at least two, cuda:0 and cpu!",
    "mat1 and mat2 shapes cannot be multiplied (128x64 and 32x16)",
    "CUDA error: an illegal memory access was encountered",
    "CUDA error: no kernel image is available for execution on the device",
    "NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.cpp:1970, unhandled system error",
    "addmm_impl_cpu_ not implemented for 'Half'",
    "expected scalar type Float but found BFloat16",
    "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1",
    "Trying to backward through the graph a second time",
    (
        "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a"
        " non-contiguous input."
    ),
    "torch.compile with inductor failed: Triton 3.4.0 needs CUDA 12.4 or newer",
    "module 'torch' has no attribute 'xpu'",
    "the token count 50257 is out of range, 512 tokens per second",
    "Missing key(s) in state_dict: layer.weight; the key is not in the table",
    "HF_TOKEN is not set in the environment; the secret is missing; a password is required",
    "Basic operations need a bearer of the interface",
    "float8_e4m3fn is only supported on devices with compute capability >= 8.9",
    "timed out after 60 s in 3 of 10 launches at n = 4,096 (bound 1e-06)",
    "RuntimeError: Unsupported dtype torch.float64 on MPS, see https://pytorch.org/docs/stable/mps",
    "DataLoader worker (pid 12345) is killed by signal: Killed.",
    "world_size=2, rank=0, host=localhost, node=0",
)
VALUES = {
    "OMP_PLACES": ("cores", "{0:4}:2", "threads(8)", "{0,1},{2,3}"),
    "KMP_AFFINITY": ("granularity=fine,compact,1,0",),
    "PYTORCH_CUDA_ALLOC_CONF": (
        "expandable_segments:True,max_split_size_mb:128",
        "backend:cudaMallocAsync",
    ),
    "NCCL_ALGO": ("Ring,Tree",),
    "NCCL_SOCKET_IFNAME": ("eth0", "ib0"),
    "OMP_STACKSIZE": ("512k", "1G"),
    "CUDA_VISIBLE_DEVICES": ("0,1", ""),
    "TORCH_LOGS": ("+inductor",),
}


def test_there_are_secrets_enough() -> None:
    assert len(SECRETS) >= LEAST_SECRETS
    assert all(secret in text for secret, text in SECRETS.items())


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_in_whatever_it_is_said(secret: str) -> None:
    text = SECRETS[secret]
    for said in (text, f"RuntimeError: {text}", f"({text}), then more", f"{text}.", f"{text}: no"):
        assert secret not in privacy.hide(said)
    assert stored_variables({"TORCH_X": text}) == {"TORCH_X": "set"}


@pytest.mark.parametrize("secret", SECRETS)
def test_a_value_that_is_a_secret_by_itself_is_not_stored(secret: str) -> None:
    assert stored_variables({"OMP_PLACES": secret}) == {"OMP_PLACES": "set"}


def test_the_command_writes_no_secret(tmp_path: Path) -> None:
    run = made(accelerators=1)
    texts = [*SECRETS.values()]
    assert plant(run, texts) == set(texts)
    (tmp_path / "run.json").write_bytes(store.encode(run))
    shown = frobench("share", "run.json", "-o", "shared", "--all", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    path = tmp_path / shown.stdout.splitlines()[-1]
    stored = [text for _, text in privacy.texts(json.loads(path.read_bytes()))]
    printed = shown.stdout.partition("What would be published")[2]
    for secret in SECRETS:
        assert [text for text in stored if secret in text] == []
        assert secret not in printed


@pytest.mark.parametrize("seed", range(3))
def test_no_place_of_the_schema_keeps_a_secret(seed: int) -> None:
    """Walk the types, so that a field that is added later is looked at too."""
    run = filled(seeded(tuple(SECRETS.values()), seed))
    held = [where for where, text in privacy.texts(run) if any(one in text for one in SECRETS)]
    assert len(held) > LEAST_PLACES

    def clean(where: str, text: str) -> str:
        return privacy.hide(text, version=privacy.is_version(where))

    shared: Any = privacy.rewritten(run, clean)
    found: Iterator[str] = (text for _, text in privacy.texts(shared))
    left = {secret for text in found for secret in SECRETS if secret in text}
    assert left == set()


@pytest.mark.parametrize("message", MESSAGES)
def test_an_ordinary_message_stays_readable(message: str) -> None:
    assert privacy.hide(message) == message


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in VALUES.items() for value in values]
)
def test_a_setting_of_a_library_is_stored(name: str, value: str) -> None:
    assert stored_variables({name: value}) == {name: value}


def test_a_value_of_an_older_file_is_shared_only_if_a_library_gave_it_a_meaning() -> None:
    run = made()
    variables = run.frobench.environment.software.variables
    variables |= {"OMP_PLACES": "swordfish", "KMP_AFFINITY": "compact", "OMP_DYNAMIC": "set"}
    shared, removed = publish.redact(run, ())
    kept = shared.frobench.environment.software.variables
    assert kept == variables | {"OMP_PLACES": "set"}
    assert "1 value that no library gave a meaning" in {one.what for one in removed}
    assert not is_harmless("swordfish")
